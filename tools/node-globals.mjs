// Node keeps these behind getters of the global object, which V8 asks anew at each use: as variables of the bundle they
// are but there. `performance.now()` is asked for some ten times in each request.
export const { Buffer, performance, process } = globalThis;
