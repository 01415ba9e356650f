// Objects of one resource by name, as the server's own client reads and writes them, for tests.
import type { KubeObject } from '../machinery/object.js';
import type { ServerClient } from '../registry/server-client.js';

export interface FakeObjects {
  readonly client: ServerClient;
  readonly names: () => string[];
  readonly object: (name: string) => KubeObject | undefined;
}

export function fakeObjects(...initial: readonly KubeObject[]): FakeObjects {
  const objects = new Map(initial.map((object) => [object.metadata.name ?? '', object]));
  const client: Partial<ServerClient> = {
    get: async (_resource, _namespace, name) => objects.get(name),
    list: async () => [...objects.values()],
    create: async (_resource, object) => {
      const name = object.metadata.name ?? '';
      if (objects.has(name)) return false;
      objects.set(name, object);
      return true;
    },
    update: async ({ object, change }) => {
      const name = object.metadata.name ?? '';
      objects.set(name, change(structuredClone(objects.get(name) ?? object)));
    },
    delete: async (_resource, object) => void objects.delete(object.metadata.name ?? ''),
  };
  return {
    client: client as ServerClient,
    names: () => [...objects.keys()],
    object: (name) => objects.get(name),
  };
}
