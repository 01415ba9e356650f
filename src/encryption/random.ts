/** Random bytes from the system's source, injected so that tests know them. */
export type RandomBytes = (size: number) => Buffer;
