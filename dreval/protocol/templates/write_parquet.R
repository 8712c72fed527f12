  colnames(Y) <- paste0("y", seq_len(ncol(Y)))
  arrow::write_parquet(data.frame("@ID@" = input[[1]], Y, check.names = FALSE), part)
