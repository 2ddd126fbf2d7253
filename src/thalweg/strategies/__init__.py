"""Evolution strategies as pure functions: latents, flows, and `GNNES`, which joins the two."""
