import net, { type AddressInfo } from 'node:net';

/** The port, or for 0 any, if nobody listens there now; somebody else may take it before it is used. */
export function freePort(address: string, port = 0): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen(port, address, () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}
