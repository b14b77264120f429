"""Public data, the sample encoder, and the builds of what ships; no part of the installed package."""
