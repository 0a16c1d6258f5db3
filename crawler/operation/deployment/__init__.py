"""The processes of a deployment, which `manage.py run` starts, supervises and ends."""
