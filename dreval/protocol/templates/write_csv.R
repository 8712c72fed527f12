  digits <- apply(Y, 2, function(column) sprintf("%.17g", column))  # every digit
  colnames(digits) <- paste0("y", seq_len(ncol(Y)))
  write.csv(data.frame("@ID@" = input[[1]], digits, check.names = FALSE), part, row.names = FALSE, quote = 1)
