// Flags that are sensible for a server which one machine alone uses, where others are not set: for `binnacle up` and for
// throwaway clusters.

export function oneMachineFlags(setFlags: ReadonlySet<string>): string[] {
  const unlessSet = (name: string, value: string, ...others: string[]): string[] =>
    [name, ...others].some((one) => setFlags.has(one)) ? [] : [`--${name}=${value}`];
  return [
    // Who only tries it out opens no door: the program itself listens on every interface, as kube-apiserver does.
    ...unlessSet('bind-address', LOOPBACK),
    ...unlessSet('authorization-mode', 'Node,RBAC', 'authorization-config'),
    ...unlessSet('service-cluster-ip-range', '10.0.0.0/24'),
    ...unlessSet('allow-privileged', 'true'),
    ...unlessSet('controllers', '*'),
  ];
}

export const LOOPBACK = '127.0.0.1';
