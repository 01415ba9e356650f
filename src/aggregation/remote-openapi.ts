// What extension servers say about their APIs, as part of what this server says. What a server once said stays while it
// is away, and goes with its registration.
import { convertSwagger } from '../schema/openapi/convert-swagger.js';
import { partOf, type Swagger } from '../schema/openapi/swagger.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import type { ExtensionDocuments } from '../rest/openapi/extension-documents.js';
import { PublishedDocument } from '../rest/openapi/published-document.js';
import type { ApiServices } from './api-services.js';
import { type FetchedSwagger, fetchIndex, fetchSwagger } from './fetch-openapi.js';
import type { RemoteServers } from './remote-servers.js';

interface Known {
  readonly fetched: FetchedSwagger;
  /** The part of the document that describes the registered version. */
  readonly part: Swagger;
}

export class RemoteOpenApi implements ExtensionDocuments {
  readonly #services: ApiServices;
  readonly #servers: RemoteServers;
  readonly #now: () => Date;
  readonly #known = new Map<string, Known>();
  readonly #indexes = new Map<string, ReadonlyMap<string, string>>();
  /** Those that have no documents of form 3; not requested again. */
  readonly #older = new Set<string>();
  readonly #converted = new Map<string, { readonly from: Swagger; readonly document: PublishedDocument }>();
  #order: readonly Swagger[] = [];

  constructor(services: ApiServices, servers: RemoteServers, now: () => Date) {
    this.#services = services;
    this.#servers = servers;
    this.#now = now;
  }

  /** Rejects when the server does not say; what it said before stays. */
  async refresh(service: Readonly<APIService>): Promise<void> {
    const name = service.metadata.name ?? '';
    const server = await this.#servers.reach(service);
    const outcomes = await Promise.allSettled([
      this.#refreshSwagger(service, fetchSwagger(server, this.#known.get(name)?.fetched)),
      this.#older.has(name) ? undefined : this.#refreshIndex(service, fetchIndex(server)),
    ]);
    if (this.#older.has(name)) await this.#convert(service);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  forget(name: string): void {
    for (const all of [this.#known, this.#indexes, this.#older, this.#converted]) all.delete(name);
  }

  swaggers(): readonly Swagger[] {
    const services = [...this.#known.keys()].flatMap((name) => this.#services.remote(name) ?? []);
    const order = inOrder(services).flatMap(({ metadata }) => this.#known.get(metadata.name ?? '')?.part ?? []);
    // The same list as long as it says the same.
    if (order.length !== this.#order.length || order.some((one, i) => one !== this.#order[i])) this.#order = order;
    return this.#order;
  }

  index(isOwn: (name: string) => boolean): ReadonlyMap<string, string> {
    const merged = new Map<string, string>();
    for (const [service, entries] of this.#indexes) {
      for (const [name, url] of entries) if (this.#serverOf(name, isOwn) === service) merged.set(name, url);
    }
    return merged;
  }

  converted(): ReadonlyMap<string, PublishedDocument> {
    return new Map(Array.from(this.#converted, ([name, { document }]) => [documentName(name), document]));
  }

  /** The API service whose server has the document of form 3; undefined for this server's own, and for none. */
  serverOf(name: string, isOwn: (name: string) => boolean): Readonly<APIService> | undefined {
    const service = this.#serverOf(name, isOwn);
    return service === undefined ? undefined : this.#services.remote(service);
  }

  /** A registered version is its server's; this server's own documents come before whatever else servers describe. */
  #serverOf(name: string, isOwn: (name: string) => boolean): string | undefined {
    const registered = registrationOf(name);
    if (registered !== undefined && this.#indexes.get(registered)?.has(name) === true) return registered;
    if (isOwn(name)) return undefined;
    for (const [service, entries] of this.#indexes) if (entries.has(name)) return service;
    return undefined;
  }

  async #refreshSwagger({ metadata, spec }: Readonly<APIService>, fetching: Promise<FetchedSwagger>): Promise<void> {
    const name = metadata.name ?? '';
    const fetched = await fetching;
    const known = this.#known.get(name);
    const part =
      known?.fetched.swagger === fetched.swagger
        ? known.part
        : await partOf(fetched.swagger, `/apis/${spec.group}/${spec.version}/`);
    if (this.#services.remote(name) === undefined) return;
    this.#known.set(name, { fetched, part });
  }

  async #refreshIndex(
    { metadata }: Readonly<APIService>,
    fetching: Promise<ReadonlyMap<string, string> | undefined>,
  ): Promise<void> {
    const name = metadata.name ?? '';
    const index = await fetching;
    if (this.#services.remote(name) === undefined) return;
    if (index === undefined) this.#older.add(name);
    else this.#indexes.set(name, index);
  }

  async #convert({ metadata }: Readonly<APIService>): Promise<void> {
    const name = metadata.name ?? '';
    const from = this.#known.get(name)?.fetched.swagger;
    if (from === undefined || this.#converted.get(name)?.from === from) return;
    const text = await convertSwagger(from);
    if (this.#services.remote(name) === undefined) return;
    const document = new PublishedDocument(() => Buffer.from(text), 'v3', this.#now());
    this.#converted.set(name, { from, document });
  }
}

/** `v1.wares.example` ↔ `apis/wares.example/v1` */
function documentName(service: string): string {
  const dot = service.indexOf('.');
  return `apis/${service.slice(dot + 1)}/${service.slice(0, dot)}`;
}

function registrationOf(document: string): string | undefined {
  const [root, group, version, ...more] = document.split('/');
  return root === 'apis' && group && version && more.length === 0 ? `${version}.${group}` : undefined;
}

/** The groups by their highest priority, then all by name. */
function inOrder(services: readonly Readonly<APIService>[]): Readonly<APIService>[] {
  const priorities = new Map<string, number>();
  for (const { spec } of services) {
    const group = spec.group ?? '';
    priorities.set(group, Math.max(priorities.get(group) ?? 0, spec.groupPriorityMinimum));
  }
  const priority = ({ spec }: Readonly<APIService>): number => priorities.get(spec.group ?? '') ?? 0;
  const name = ({ metadata }: Readonly<APIService>): string => metadata.name ?? '';
  return services.toSorted((a, b) => priority(b) - priority(a) || (name(a) < name(b) ? -1 : 1));
}
