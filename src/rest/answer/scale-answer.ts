// A scale in the requested form.
import type { HttpResponse } from '../../lib/http/http.js';
import type { KubeObject } from '../../machinery/object.js';
import { AGE_COLUMN, ageCell } from '../../registry/columns.js';
import type { Column } from '../../registry/kind.js';
import { typeOf } from '../../schema/catalogue.js';
import type { Scale } from '../../schema/generated/autoscaling.v1.js';
import type { StructType } from '../../schema/type.js';
import { notAcceptableTransform } from '../wire/negotiate.js';
import { partialMetadata } from './partial-metadata.js';
import { metaType } from './formed-value.js';
import { type Rendering, respondValue } from './respond.js';
import { columnDefinitions, tableOptions } from './table.js';

const COLUMNS: readonly Column[] = [
  { name: 'Name', type: 'string', description: 'The name of the object that is scaled.' },
  { name: 'Desired', type: 'integer', description: 'How many replicas there shall be.' },
  { name: 'Available', type: 'integer', description: 'How many replicas there are.' },
  AGE_COLUMN,
];

export function respondScale(rendering: Omit<Rendering, 'converter'>, scale: Scale & KubeObject): HttpResponse {
  const { endpoint, request, negotiated, clock } = rendering;
  const { transform } = negotiated;
  switch (transform?.kind) {
    case undefined:
      return respondValue(rendering, 200, scaleType(), scale);
    case 'Table': {
      const { includeObject } = tableOptions(request.query);
      const { name = '', resourceVersion } = scale.metadata;
      const object = { Metadata: partialMetadata({}, scale, transform.version), Object: scale, None: null }[
        includeObject
      ];
      const table = {
        kind: 'Table',
        apiVersion: `meta.k8s.io/${transform.version}`,
        metadata: resourceVersion === undefined ? {} : { resourceVersion },
        columnDefinitions: columnDefinitions(COLUMNS),
        rows: [
          { cells: [name, scale.spec?.replicas ?? 0, scale.status?.replicas ?? 0, ageCell(scale, clock())], object },
        ],
      };
      return respondValue(rendering, 200, metaType(transform.version, 'Table'), table);
    }
    case 'PartialObjectMetadata': {
      const value = partialMetadata({}, scale, transform.version);
      return respondValue(rendering, 200, metaType(transform.version, 'PartialObjectMetadata'), value);
    }
    case 'PartialObjectMetadataList':
      throw notAcceptableTransform(
        `you requested PartialObjectMetadataList, but the requested object is not a list (*${endpoint.definition.custom ? 'v1' : 'autoscaling'}.Scale)`,
      );
  }
}

export function scaleType(): StructType {
  const type = typeOf('autoscaling', 'v1', 'Scale');
  if (type === undefined) throw new Error('the catalogue has no Scale');
  return type;
}
