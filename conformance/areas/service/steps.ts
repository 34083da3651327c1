/**
 * The names of conversations, trace requests, and end calls of the service area. Checks find exchanges by
 * them, so a misspelled one does not compile.
 */
import type { Endpoint } from '../../../src/contract/index.ts';
import type { BadKey } from '../../engine/probe.ts';

/** The conversations that a run makes up. */
export type ConversationName =
  | 'old'
  | 'json'
  | 'protobuf'
  | 'gzip'
  | 'gzip protobuf'
  | 'header'
  | 're-sent'
  | 'ignored'
  | 'tools'
  | 'failed'
  | 'wrapper'
  | 'one trace'
  | 'split'
  | 'attribute and header'
  | 'closed twice'
  | 'closed last'
  | 'ignored alone'
  | 'left open'
  | 'header alone'
  // Of other owners.
  | 'bare'
  | 'deleted'
  | 'named'
  | 'first of two'
  | 'second of two'
  | 'late'
  | 'backlog old'
  | 'backlog'
  | 'case'
  | 'other case'
  | 'reserved'
  | 'slash'
  | 'own'
  | 'idle'
  // Of refused and unusual requests.
  | 'control'
  | 'never sent'
  | 'odd'
  | 'keys'
  | `${BadKey} key`
  | 'limits'
  | 'rate';

/** The steps of trace requests. Most have the name of the conversation whose spans they send. */
export type TracesStep =
  | ConversationName
  | 'json again'
  | 'header as protobuf'
  | 're-sent again'
  | 're-sent as protobuf'
  | 'closed twice again'
  | 'two ids'
  | 'late again'
  | 'same ids of another owner'
  // Refused and unusual requests.
  | 'charset'
  | 'no id'
  | 'text/plain'
  | 'application/octet-stream'
  | 'application/xml'
  | 'no content type'
  | 'values of every type'
  | 'no spans'
  | 'messages not JSON'
  | 'messages as values'
  | 'ids in base64'
  | 'body not JSON'
  | 'body empty'
  | 'body an array'
  | 'body not protobuf'
  | 'body not gzip'
  | 'encoding unknown'
  // Large and numerous requests.
  | 'under 10 MB'
  | 'protobuf under 10 MB'
  | 'over 10 MB'
  | 'inflates to over 10 MB'
  | 'another key'
  | 'rate early'
  | 'after a minute'
  | 'after Retry-After'
  | 'rate again'
  | 'rate once more';

/** The steps of end calls. */
export type EndStep =
  | `close ${ConversationName}`
  | 'close again'
  | 'close at the same moment'
  | 'close bare again'
  | 'close late again'
  | 'close of another'
  | 'unknown'
  | 'content type alone'
  | 'a body'
  | 'a body that is not JSON';

/** The steps of an endpoint. Those of other endpoints have no type. */
export type StepOf<Of extends Endpoint> = Of extends 'traces'
  ? TracesStep
  : Of extends 'end'
    ? EndStep
    : string;
