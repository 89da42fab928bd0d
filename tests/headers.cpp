// Only here so that the tests have one set of precompiled headers.
