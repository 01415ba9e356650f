// API Priority and Fairness: sorts requests into levels by the flow schemas, and gives each level's requests its seats.
import type { Clock } from '../lib/async/clock.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import { type OpenSeatPool, ownSeats } from '../workers/seat-pool.js';
import type {
  FlowSchema,
  FlowSchemaSpec,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '../schema/generated/flowcontrol.v1.js';
import type { Ticket } from './ticket.js';
import { type LevelSubject, PriorityLevel } from './level.js';
import { byPrecedence, type Ranked, SchemaMatcher } from './match.js';
import type { FlowControlMetrics, SchemaMetrics } from './metrics.js';
import { type Demand, rebalance, seatBounds, type SeenDemand } from './seats.js';

export interface FlowControlOptions {
  /** Of all levels together, in all processes of the server. */
  readonly totalSeats: number;
  /** Where several processes share the seats; then rebalancing is by what all of them want. */
  readonly openSeatPool?: OpenSeatPool | undefined;
  /** What is there even when nobody stored it. */
  readonly mandatory: {
    readonly levels: ReadonlyMap<string, PriorityLevelConfigurationSpec>;
    readonly schemas: ReadonlyMap<string, FlowSchemaSpec>;
  };
  readonly metrics: FlowControlMetrics;
  readonly clock: Clock;
}

/** How seats were divided among levels. */
export interface Balance {
  readonly fairFraction: number;
  readonly levels: ReadonlyMap<string, { readonly demand: Demand; readonly target: number; readonly seats: number }>;
}

/** Where a request belongs. */
export interface Classified {
  readonly name: string;
  readonly uid: string;
  readonly level: PriorityLevel;
  readonly metrics: SchemaMetrics;
  /** Which of the schema's flows it is part of. */
  distinguisherOf(info: RequestInfo, user: UserInfo): string;
}

export type FlowTicket = Ticket<LevelSubject>;

const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

export class FlowControl {
  readonly #options: FlowControlOptions;
  #levels = new Map<string, PriorityLevel>();
  #schemas: readonly Classified[] = [];
  #matcher = new SchemaMatcher([]);
  #catchAll = 0;
  #nominalSum = 0;

  /** Until the stored configuration is known, the mandatory one holds. */
  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.configure([], []);
    options.metrics.progressOf(() =>
      this.levels.map(({ name, queues: { progress, lastDispatch } }) => ({ name, progress, lastDispatch })),
    );
  }

  /** In the order of their names. */
  get levels(): readonly PriorityLevel[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  // hot: every request
  classify(info: RequestInfo, user: UserInfo): Classified {
    const found = this.#schemas[this.#matcher.match(info, user) ?? this.#catchAll];
    if (found === undefined) throw new Error('there is no flow schema for everything else');
    return found;
  }

  configure(levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): void {
    this.#configureLevels(levels);
    this.#configureSchemas(schemas);
    this.rebalance(this.#options.openSeatPool === undefined ? this.takeDemand() : new Map());
  }

  /** What requests of this process wanted since the last call, by level. */
  takeDemand(): ReadonlyMap<string, SeenDemand> {
    return new Map(this.levels.map((level) => [level.name, level.takeDemand()]));
  }

  /** Gives seats that are not needed here to where they are; to be called every few seconds, with what was wanted since. */
  rebalance(seen: ReadonlyMap<string, SeenDemand>): Balance {
    const levels = this.levels;
    for (const level of levels) {
      const demand = seen.get(level.name);
      if (demand !== undefined) level.addDemand(demand);
    }
    const { seats, targets, fairFraction } = rebalance(levels, this.#nominalSum);
    const balanced = levels.map(({ name, demand }) => {
      return [name, { demand, target: targets.get(name) ?? 0, seats: seats.get(name) ?? 0 }] as const;
    });
    const balance = { fairFraction, levels: new Map(balanced) };
    this.apply(balance);
    return balance;
  }

  /** Also for what another process has found out for all. */
  apply({ fairFraction, levels }: Balance): void {
    this.#options.metrics.fairFraction(fairFraction);
    for (const level of this.levels) {
      const balanced = levels.get(level.name);
      if (balanced === undefined) continue;
      level.demand = balanced.demand;
      level.rebalanced(balanced.seats, balanced.target);
    }
  }

  #configureLevels(stored: readonly PriorityLevelConfiguration[]): void {
    const { clock, metrics, mandatory, totalSeats, openSeatPool = ownSeats } = this.#options;
    const wanted = new Map<string, { uid: string; spec: PriorityLevelConfigurationSpec; quiescing: boolean }>();
    // One that was deleted goes on as it was last seen, until it is made anew.
    for (const [name, spec] of mandatory.levels) {
      const known = this.#levels.get(name);
      wanted.set(name, { uid: known?.uid ?? '', spec: known?.spec ?? spec, quiescing: false });
    }
    for (const { metadata, spec } of stored) {
      wanted.set(metadata.name ?? '', { uid: metadata.uid ?? '', spec, quiescing: false });
    }
    // One that is gone serves those it has let in before it goes.
    for (const [name, { uid, spec, idle }] of this.#levels) {
      if (!wanted.has(name) && !idle) wanted.set(name, { uid, spec, quiescing: true });
    }
    const sumOfShares = [...wanted.values()].reduce((sum, { spec }) => sum + sharesOf(spec).shares, 0);
    const levels = new Map<string, PriorityLevel>();
    for (const [name, { uid, spec, quiescing }] of wanted) {
      const level =
        this.#levels.get(name) ??
        new PriorityLevel(name, {
          clock,
          metrics: metrics.level(name),
          openSeatPool,
          onIdle: () => this.#dropQuiescing(),
        });
      level.configure({ uid, spec, quiescing, bounds: seatBounds(sharesOf(spec), totalSeats, sumOfShares) });
      levels.set(name, level);
    }
    for (const [name, level] of this.#levels) if (!levels.has(name)) level.close();
    this.#levels = levels;
    this.#nominalSum = [...levels.values()].reduce((sum, { bounds }) => sum + bounds.nominal, 0);
  }

  #configureSchemas(stored: readonly FlowSchema[]): void {
    const ranked: (Ranked & { readonly uid: string })[] = stored
      .filter(({ spec }) => {
        const level = this.#levels.get(spec.priorityLevelConfiguration.name);
        return level !== undefined && !level.quiescing;
      })
      .map(({ metadata, spec }) => ({ name: metadata.name ?? '', uid: metadata.uid ?? '', spec }))
      .sort(byPrecedence);
    const imagine = (name: string): (Ranked & { readonly uid: string })[] => {
      const spec = this.#options.mandatory.schemas.get(name);
      return spec === undefined || ranked.some((schema) => schema.name === name) ? [] : [{ name, uid: '', spec }];
    };
    const all = [...imagine(EXEMPT), ...ranked, ...imagine(CATCH_ALL)];
    this.#matcher = new SchemaMatcher(all);
    this.#schemas = all.map((schema) => this.#classified(schema));
    this.#catchAll = all.findIndex(({ name }) => name === CATCH_ALL);
  }

  #classified({ name, uid, spec }: Ranked & { readonly uid: string }): Classified {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level === undefined) throw new Error(`flow schema ${name} has no level`);
    const by = spec.distinguisherMethod?.type;
    return new ClassifiedSchema({ name, uid, level, by, series: this.#options.metrics });
  }

  #dropQuiescing(): void {
    for (const [name, level] of this.#levels) {
      if (!level.quiescing || !level.idle) continue;
      level.close();
      this.#levels.delete(name);
    }
    this.#nominalSum = [...this.#levels.values()].reduce((sum, { bounds }) => sum + bounds.nominal, 0);
  }
}

interface SchemaParts {
  readonly name: string;
  readonly uid: string;
  readonly level: PriorityLevel;
  /** The type of its distinguisher; undefined: all its requests are one flow. */
  readonly by: string | undefined;
  readonly series: FlowControlMetrics;
}

/** Of many schemas most never see a request: their series are made for the first. */
class ClassifiedSchema implements Classified {
  readonly name: string;
  readonly uid: string;
  readonly level: PriorityLevel;
  readonly #by: string | undefined;
  readonly #series: FlowControlMetrics;
  #metrics: SchemaMetrics | undefined = undefined;

  constructor({ name, uid, level, by, series }: SchemaParts) {
    this.name = name;
    this.uid = uid;
    this.level = level;
    this.#by = by;
    this.#series = series;
  }

  get metrics(): SchemaMetrics {
    return (this.#metrics ??= this.#series.schema(this.level.name, this.name));
  }

  distinguisherOf(info: RequestInfo, user: UserInfo): string {
    if (!this.level.distinguishesFlows || this.#by === undefined) return '';
    return this.#by === 'ByUser' ? user.name : info.namespace;
  }
}

const sharesOf = ({ limited, exempt }: PriorityLevelConfigurationSpec) => ({
  shares: limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0,
  lendablePercent: limited?.lendablePercent ?? exempt?.lendablePercent ?? 0,
  borrowingLimitPercent: limited?.borrowingLimitPercent ?? undefined,
});
