/** What may end before its time. The signal is made when somebody asks for it, which most requests never do. */
export class Abortable {
  #controller: AbortController | undefined = undefined;
  #reason: Error | undefined = undefined;

  get signal(): AbortSignal {
    let controller = this.#controller;
    if (controller === undefined) {
      controller = this.#controller = new AbortController();
      if (this.#reason !== undefined) controller.abort(this.#reason);
    }
    return controller.signal;
  }

  /** Nobody waits for the answer any more. The first reason counts. */
  stop(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
