"""The composition root: command line, configuration, and the pipeline that joins the packages."""
