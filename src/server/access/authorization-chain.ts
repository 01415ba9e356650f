// From a chain's description to the chain, at the start and whenever its file changes.
import type { Authorizer } from '../../authz/authorizer.js';
import { authorizerChain, type ChainMember, type DecisionObserver } from '../../authz/chain.js';
import type { AuthorizerConfig, BuiltInType } from '../../config/authorization/config.js';
import { ConfigError } from '../../config/config-error.js';
import { connectWebhook, type ConnectedWebhook, type WebhookParts } from './authorization-webhooks.js';

export interface ChainParts {
  /** Makes what stays for as long as the server runs. */
  readonly builtIn: (type: BuiltInType) => Authorizer;
  /** Called when the first webhook comes. */
  readonly webhooks: () => WebhookParts;
  readonly observe: DecisionObserver;
}

export interface ReplaceableChain {
  readonly authorizer: Authorizer;
  /** The types that are there from the start; a later chain cannot do without them. */
  readonly builtIn: ReadonlySet<string>;
  /** Takes a whole new chain in the old one's place. Throws a ConfigError, and then the old one stays. */
  replace(configs: readonly AuthorizerConfig[]): void;
}

/** These hold nothing, so they may also join later. */
const ALWAYS_AT_HAND: ReadonlySet<string> = new Set(['AlwaysAllow', 'AlwaysDeny']);

export function buildChain(configs: readonly AuthorizerConfig[], parts: ChainParts): ReplaceableChain {
  const builtIn = new Map<string, Authorizer>();
  for (const { type } of configs) if (type !== 'Webhook') builtIn.set(type, parts.builtIn(type));
  let current = assemble(configs);
  return {
    builtIn: new Set(builtIn.keys()),
    authorizer: {
      authorize: (attributes, waiting) => current.chain.authorize(attributes, waiting),
      rulesFor: (user, namespace) => current.chain.rulesFor(user, namespace),
    },
    replace(next) {
      const old = current;
      current = assemble(next);
      for (const webhook of old.webhooks) webhook.close();
    },
  };

  function assemble(all: readonly AuthorizerConfig[]): { chain: Authorizer; webhooks: ConnectedWebhook[] } {
    const webhooks: ConnectedWebhook[] = [];
    const members = all.map((config): ChainMember => {
      const { type, name } = config;
      if (config.type !== 'Webhook') return { type, name, authorizer: builtInOf(config.type) };
      const webhook = connectWebhook(name, config.webhook, parts.webhooks());
      webhooks.push(webhook);
      return { type, name, authorizer: webhook.authorizer };
    });
    return { chain: authorizerChain(members, parts.observe), webhooks };
  }

  function builtInOf(type: BuiltInType): Authorizer {
    const known = builtIn.get(type) ?? (ALWAYS_AT_HAND.has(type) ? parts.builtIn(type) : undefined);
    if (known !== undefined) return known;
    throw new ConfigError(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`);
  }
}
