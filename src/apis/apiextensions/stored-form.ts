// The form of CRDs in a store shared with kube-apiserver: v1beta1, as kube-apiserver stores them.
import type { JsonObject } from '../../machinery/object.js';
import type { CustomResourceDefinition } from '../../schema/generated/apiextensions.v1.js';
import { hoist } from './hoisted-spec.js';

const STORED_VERSION = 'apiextensions.k8s.io/v1beta1';

/** Members in the order of the old type, what all versions say alike at the top. */
export function toStoredForm({ metadata, spec, status }: Readonly<CustomResourceDefinition>): JsonObject {
  const { versions, validation, subresources, additionalPrinterColumns, selectableFields } = hoist(spec);
  const first = versions[0]?.name;
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: STORED_VERSION,
    metadata,
    spec: {
      group: spec.group,
      ...(first !== undefined && { version: first }),
      names: spec.names,
      scope: spec.scope,
      ...(validation !== undefined && { validation }),
      ...(subresources !== undefined && { subresources }),
      versions: versions.map(({ additionalPrinterColumns: columns, ...version }) => ({
        ...version,
        ...(columns !== undefined && { additionalPrinterColumns: columns.map(oldColumn) }),
      })),
      ...(additionalPrinterColumns !== undefined && {
        additionalPrinterColumns: additionalPrinterColumns.map(oldColumn),
      }),
      ...(selectableFields !== undefined && { selectableFields }),
      ...(spec.conversion !== undefined && { conversion: oldConversion(spec.conversion) }),
      preserveUnknownFields: spec.preserveUnknownFields ?? false,
    },
    status,
  };
}

/** A stored tree in the shape of v1, whichever of the two it was kept in. */
export function fromStoredForm(stored: JsonObject): JsonObject {
  if (stored['apiVersion'] !== STORED_VERSION) return stored;
  const {
    version,
    validation,
    subresources,
    additionalPrinterColumns,
    selectableFields,
    versions,
    conversion,
    preserveUnknownFields,
    ...spec
  } = stored['spec'] as JsonObject & { versions?: JsonObject[] | null };
  const listed = versions?.length ? versions : [{ name: version, served: true, storage: true }];
  const shared: JsonObject = { schema: validation, subresources, additionalPrinterColumns, selectableFields };
  return {
    ...stored,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...spec,
      versions: listed.map((one: JsonObject) => withColumns({ ...shared, ...one })),
      conversion: newConversion((conversion ?? { strategy: 'None' }) as JsonObject),
      // Unset meant true before there was a choice.
      preserveUnknownFields: preserveUnknownFields ?? true,
    },
  };
}

const oldColumn = ({ jsonPath, ...column }: { jsonPath: string }): JsonObject => ({ ...column, JSONPath: jsonPath });

function withColumns(version: JsonObject): JsonObject {
  const columns = version['additionalPrinterColumns'] as JsonObject[] | undefined;
  if (columns === undefined) return version;
  const renamed = columns.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath }));
  return { ...version, additionalPrinterColumns: renamed };
}

function oldConversion({ strategy, webhook }: { strategy: string; webhook?: object }): JsonObject {
  const { clientConfig, conversionReviewVersions } = (webhook ?? {}) as JsonObject;
  return {
    strategy,
    ...(clientConfig !== undefined && { webhookClientConfig: clientConfig }),
    ...(webhook !== undefined && { conversionReviewVersions }),
  };
}

function newConversion({ strategy, webhookClientConfig, conversionReviewVersions }: JsonObject): JsonObject {
  if (strategy !== 'Webhook') return { strategy };
  return { strategy, webhook: { clientConfig: webhookClientConfig, conversionReviewVersions } };
}
