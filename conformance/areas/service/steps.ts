/**
 * The names of conversations, trace requests, end calls, and reads of results of the service area. Checks
 * find exchanges by them, so a misspelled one does not compile.
 */
import type { Endpoint } from '../../../src/contract/index.ts';
import type { BadKey } from '../../engine/probe.ts';
import type { NameFilter, ResultsEndpoint } from './results-api.ts';

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
  | 'alike'
  | 'closed twice'
  | 'closed last'
  | 'gzip in parts'
  | 'many spans'
  | 'ignored alone'
  | 'left open'
  | 'header alone'
  // Conversations of other owners.
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
  | 'long'
  | 'own'
  | 'idle'
  // Refused and unusual requests.
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
  | 'gzip of two members'
  | 'gzip in chunks'
  | 'header as protobuf'
  | 're-sent again'
  | 're-sent as protobuf'
  | 'closed twice again'
  | 'two ids'
  | 'late again'
  | 'idle again'
  | 'same ids of another owner'
  // Refused and unusual requests.
  | 'charset'
  | 'no id'
  | 'text/plain'
  | 'application/octet-stream'
  | 'application/xml'
  | 'application/json-seq'
  | 'application/ld+json'
  | 'no content type'
  | 'values of every type'
  | 'no spans'
  | 'messages not JSON'
  | 'messages as values'
  | 'ids in base64'
  | 'body not JSON'
  | 'body empty'
  | 'body an array'
  | 'body an empty object'
  | 'body not protobuf'
  | 'body not gzip'
  | 'encoding unknown'
  // Large and numerous requests.
  | 'under 10 MB'
  | 'protobuf under 10 MB'
  | 'gzip of 3 MB'
  | 'over 10 MB'
  | 'over 10 MB in chunks'
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
  | 'close with second key'
  | 'close bare again'
  | 'close late again'
  | 'close of another'
  | 'unknown'
  | 'unknown again'
  | 'prefix of a known id'
  | 'known id in other case'
  | 'content type alone'
  | 'a body'
  | 'a body that is not JSON';

/** Characters with a meaning in patterns. A filter must match only themselves. */
export type Wildcard = '%' | '_' | '.';

/** The steps of reads of results. */
export type ResultsStep =
  // Reads while the run waits for scores.
  | 'results'
  | 'other results'
  // All sessions, page by page.
  | 'defaults'
  | 'newest'
  | 'whole'
  | 'whole again'
  | 'page'
  | 'page at an odd skip'
  | 'beyond the end'
  | 'over the cap'
  | 'many'
  // Turns and failures.
  | 'traces asked for'
  | 'declined'
  | 'failed only'
  | 'page of failed only'
  // Filters.
  | NameFilter
  | `${'run' | 'agent'} none`
  | `${'run' | 'agent'} and eval none`
  | `${NameFilter} with ${Wildcard}`
  | 'run by session id'
  | 'agent by scenario'
  | 'eval by category'
  | 'eval by reasoning'
  | 'agent by URL'
  | 'eval and failed only'
  | 'started after and eval'
  | 'started after'
  | 'started before'
  | 'started before alone'
  | 'started after with an offset'
  // Other owners.
  | 'another owner'
  | 'filter of another owner'
  | 'second key'
  | 'key of a new owner'
  | 'bare'
  | 'deleted'
  | 'before late spans'
  | 'after late spans'
  | 'backlog at first'
  | 'backlog'
  | 'ids'
  | 'after 23 hours'
  | 'after 24 hours'
  // Refused and unusual reads.
  | 'keys'
  | `${BadKey} key`
  | 'header in upper case'
  | 'limit not a number'
  | 'limit 0'
  | 'skip negative'
  | 'boolean unreadable'
  | 'time unreadable'
  | 'parameter unknown'
  | 'no slash at the end';

/** The steps of an endpoint. Those of the control API have no type. */
export type StepOf<Of extends Endpoint> = Of extends 'traces'
  ? TracesStep
  : Of extends 'end'
    ? EndStep
    : Of extends ResultsEndpoint
      ? ResultsStep
      : string;
