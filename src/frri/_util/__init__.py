"""Small helpers without a room of their own: names, optional packages, whole files, threads."""
