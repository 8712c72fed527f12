"""What is printed of each record and in which order; renderers give it a form."""
