// The network of three members of etcd: every connection, of servers to members and between members, goes through here, and can be
// cut, or be silent for a while as where packets are lost. What goes over it may be encrypted.
import net from 'node:net';

/** So much of a connection is looked at for who made it. */
const MAX_HEAD_BYTES = 16 * 1024;

export interface EtcdNetwork {
  /** A port that leads to the port on which a member listens for servers. */
  clientPort(member: number, target: number): Promise<number>;
  /** A port that leads to the port on which a member listens for other members, which say in each request what their own address is. */
  peerPort(member: number, target: number): Promise<number>;
  /** Connections of servers are reset. */
  cutClients(): void;
  /** Connections of servers to a member are silent, and new ones too. */
  silenceClients(member: number): void;
  /** A member and the others do not hear each other; servers reach all. */
  partition(member: number): void;
  /** Connections that were silent are reset: what was lost is not made good. */
  heal(): void;
  close(): void;
}

interface Connection {
  readonly kind: 'client' | 'peer';
  readonly to: number;
  /** The member that made it; undefined for a server, and until it is known. */
  from: number | undefined;
  isSilent: boolean;
  /** While what comes is kept back. */
  readonly sockets: net.Socket[];
}

export function createEtcdNetwork(): EtcdNetwork {
  const connections = new Set<Connection>();
  const listeners: net.Server[] = [];
  const memberOfPort = new Map<number, number>();
  let silenced: number | undefined;
  let partitioned: number | undefined;

  const isBlocked = ({ kind, from, to }: Connection): boolean =>
    kind === 'client' ? to === silenced : partitioned !== undefined && (from === partitioned) !== (to === partitioned);
  const end = (connection: Connection): void => {
    connections.delete(connection);
    for (const socket of connection.sockets) socket.destroy();
  };
  const silence = (connection: Connection): void => {
    connection.isSilent = true;
    for (const socket of connection.sockets) {
      socket.unpipe();
      socket.pause();
    }
  };
  const silenceBlocked = (): void => {
    for (const connection of connections) if (isBlocked(connection)) silence(connection);
  };

  async function listen(kind: Connection['kind'], to: number, target: number): Promise<number> {
    const listener = net.createServer((incoming) => {
      const connection: Connection = { kind, to, from: undefined, isSilent: false, sockets: [incoming] };
      connections.add(connection);
      incoming.on('error', () => end(connection));
      incoming.on('close', () => end(connection));
      const forward = (head: Buffer): void => {
        if (isBlocked(connection)) return silence(connection);
        const outgoing = net.connect(target, '127.0.0.1');
        connection.sockets.push(outgoing);
        outgoing.on('error', () => end(connection));
        outgoing.on('close', () => end(connection));
        outgoing.write(head);
        incoming.pipe(outgoing);
        outgoing.pipe(incoming);
      };
      if (kind === 'client') return forward(Buffer.alloc(0));
      readHead(incoming, (head) => {
        connection.from = memberOfPort.get(portOfPeer(head));
        forward(head);
      });
    });
    listeners.push(listener);
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return (listener.address() as net.AddressInfo).port;
  }

  return {
    clientPort: (member, target) => listen('client', member, target),
    async peerPort(member, target) {
      const port = await listen('peer', member, target);
      memberOfPort.set(port, member);
      return port;
    },
    cutClients() {
      for (const connection of connections) if (connection.kind === 'client') end(connection);
    },
    silenceClients(member) {
      silenced = member;
      silenceBlocked();
    },
    partition(member) {
      partitioned = member;
      silenceBlocked();
    },
    heal() {
      silenced = undefined;
      partitioned = undefined;
      for (const connection of connections) if (connection.isSilent) end(connection);
    },
    close() {
      for (const connection of connections) end(connection);
      for (const listener of listeners) listener.close();
    },
  };
}

/** Calls with what has come when the head of the first request is whole. */
function readHead(socket: net.Socket, whole: (head: Buffer) => void): void {
  let head = Buffer.alloc(0);
  const read = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    if (!head.includes('\r\n\r\n') && head.length < MAX_HEAD_BYTES) return;
    socket.off('data', read);
    socket.pause();
    whole(head);
  };
  socket.on('data', read);
}

/** The port in the address that a member of etcd gives with its requests to others; 0 where there is none. */
export function portOfPeer(head: Buffer): number {
  const line = head
    .toString('latin1')
    .split('\r\n')
    .find((one) => one.toLowerCase().startsWith('x-peerurls:'));
  return Number(line?.slice(line.lastIndexOf(':') + 1) ?? 0);
}
