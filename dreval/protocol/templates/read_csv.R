  input <- read.csv(task$input, check.names = FALSE, colClasses = c("@ID@" = "character"))
