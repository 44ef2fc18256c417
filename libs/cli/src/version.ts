/** The version of the command. A test compares it with the one in package.json. */
export const VERSION = '0.1.0';
