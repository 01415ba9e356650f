// Node keeps these behind getters of the global object, which V8 calls at each use: variables of the bundle are
// read directly. `performance.now()` runs some ten times in each request.
export const { Buffer, performance, process } = globalThis;
