"""Pictures and icons of other sites, served by Freshet itself, so that no publisher sees its readers."""
