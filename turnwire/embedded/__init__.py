"""turnwire as a library: translate, run an agent, serve a hub inside a program. `import turnwire` offers what is here."""
