  input <- as.data.frame(arrow::read_parquet(task$input))
