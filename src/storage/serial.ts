// Tasks one after the other: at once when nothing is running and the task needs no waiting.
export class Serial {
  #tail: Promise<void> | undefined;

  /** What is still to be waited for before all tasks so far are done; absent when they are. */
  get busy(): Promise<void> | undefined {
    return this.#tail;
  }

  run(task: () => void | Promise<void>): void | Promise<void> {
    const running = this.#tail === undefined ? task() : this.#tail.then(task);
    if (running === undefined) return;
    const mine: Promise<void> = running.finally(() => {
      if (this.#tail === mine) this.#tail = undefined;
    });
    return (this.#tail = mine);
  }
}
