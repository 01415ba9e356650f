import type { Cancellation } from './cancellation.js';

/**
 * What may end before its time. The AbortSignal is created on first use, which most requests never need; a listener
 * alone costs a function.
 */
export class Abortable implements Cancellation {
  #controller: AbortController | undefined = undefined;
  #reason: Error | undefined = undefined;
  #listener: (() => void) | undefined = undefined;

  get signal(): AbortSignal {
    let controller = this.#controller;
    if (controller === undefined) {
      controller = this.#controller = new AbortController();
      if (this.#reason !== undefined) controller.abort(this.#reason);
    }
    return controller.signal;
  }

  get stopped(): boolean {
    return this.#reason !== undefined;
  }

  /** `run` is called when this stops, at once if it has. Returns a function that removes the listener. */
  whenStopped(run: () => void): () => void {
    if (this.#reason !== undefined) {
      run();
      return () => undefined;
    }
    const before = this.#listener;
    let wanted = true;
    this.#listener = () => {
      before?.();
      if (wanted) run();
    };
    return () => void (wanted = false);
  }

  /** Nobody waits for the answer any more. The first reason counts. */
  stop(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }
}
