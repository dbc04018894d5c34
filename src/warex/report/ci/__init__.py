"""Results for continuous integration: JUnit, SARIF, a summary and annotations."""
