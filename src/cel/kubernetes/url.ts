// URLs, read as Go reads them.
import { type GoUrl, parseGoRequestUri, parseGoUrl } from '../../lib/go/url.js';
import { escapedPathOf, goUrlText, hostnameOf, portOf, queryOf } from '../../lib/go/url-parts.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, STRING, listType, mapType, objectType } from '../type.js';
import {
  ArrayList,
  CelError,
  EntryMap,
  OpaqueValue,
  type Value,
  noSuchOverload,
  unsupportedConversion,
} from '../value.js';

const URL_TYPE = objectType('kubernetes.URL');

class UrlValue extends OpaqueValue {
  readonly type = URL_TYPE;
  constructor(readonly url: GoUrl) {
    super();
  }
  equal(other: Value): Value {
    return other instanceof UrlValue ? goUrlText(this.url) === goUrlText(other.url) : noSuchOverload();
  }
  override readAgain(): Value {
    return unsupportedConversion(`(*url.URL)${goUrlText(this.url)}`);
  }
}

const QUERY = mapType(STRING, listType(STRING));

export const urlLibrary: Library = {
  name: 'kubernetes.urls',
  functions: [
    { name: 'url', overloads: [{ id: 'string_to_url', parameters: [STRING], result: URL_TYPE, call: urlOf }] },
    {
      name: 'isURL',
      overloads: [
        {
          id: 'is_url_string',
          parameters: [STRING],
          result: BOOL,
          call: (text: string) => !('error' in parseGoRequestUri(text)),
        },
      ],
    },
    part('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    part('getHost', 'url_get_host', ({ host }) => host),
    part('getHostname', 'url_get_hostname', hostnameOf),
    part('getPort', 'url_get_port', portOf),
    part('getEscapedPath', 'url_get_escaped_path', escapedPathOf),
    {
      name: 'getQuery',
      overloads: [
        {
          id: 'url_get_query',
          member: true,
          parameters: [URL_TYPE],
          result: QUERY,
          call: ({ url }: UrlValue) =>
            new EntryMap(Array.from(queryOf(url), ([name, values]) => [name, new ArrayList(values)] as const)),
        },
      ],
    },
  ],
};

/** What a request line may hold; the second reading separates the fragment, which the first reads as path or query. */
function urlOf(text: string): Value {
  const asRequest = parseGoRequestUri(text);
  const url = 'error' in asRequest ? asRequest : parseGoUrl(text);
  return 'error' in url
    ? new CelError(`URL parse error during conversion from string: ${url.error}`)
    : new UrlValue(url);
}

function part(name: string, id: string, read: (url: GoUrl) => string): FunctionDeclaration {
  const call = ({ url }: UrlValue): string => read(url);
  return { name, overloads: [{ id, member: true, parameters: [URL_TYPE], result: STRING, call }] };
}
