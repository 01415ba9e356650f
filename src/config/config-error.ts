/** A configuration file that is refused. Its message names the file or the field. */
export class ConfigError extends Error {}
