/** Has those who follow files look at them at once, as at SIGHUP, without waiting for the file system to report a change. */
export class ReloadRequests {
  readonly #followers = new Set<() => void>();

  /** The answer ends it. */
  follow(look: () => void): () => void {
    this.#followers.add(look);
    return () => void this.#followers.delete(look);
  }

  request(): void {
    for (const look of this.#followers) look();
  }
}
