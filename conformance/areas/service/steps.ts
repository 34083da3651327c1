import { stepsOf } from '../../engine/probe.ts';
import type { Exchange } from '../../engine/transcript/transcript.ts';
import type { OwnerName } from './context.ts';

/** How a request without the right key fails to have it. */
export type BadKey = 'none' | 'wrong';

/** The conversations that the probes make up. Most are sent by a step of the same name. */
export type ConversationName =
  | ('old' | 'json' | 'protobuf' | 'gzip' | 'gzip protobuf' | 'header' | 're-sent')
  | ('ignored' | 'tools' | 'failed' | 'wrapper' | 'ignored alone')
  | ('bare' | 'deleted' | 'named' | 'idle' | 'limits' | 'rate' | 'odd' | 'never sent')
  | ('late' | 'first of two' | 'second of two' | 'backlog old' | 'backlog')
  | ('case' | 'other case' | 'reserved' | 'slash' | 'own')
  | ('control' | 'keys' | `${BadKey} key`);

/** Steps of `POST /v1/traces`. */
export type TracesStep =
  | ConversationName
  | ('json again' | 're-sent again' | 'two ids' | 'late again')
  | ('charset' | 'no id' | 'text/plain' | 'application/octet-stream' | 'application/xml')
  | ('under 10 MB' | 'over 10 MB' | 'inflates to over 10 MB')
  | ('rate again' | 'rate once more' | 'after Retry-After')
  | ('no spans' | 'messages not JSON' | 'messages as values' | 'ids in base64' | 'tag beside')
  | ('body not JSON' | 'body empty' | 'body an array' | 'body not protobuf' | 'body not gzip')
  | 'encoding unknown';

/** Steps of `POST /v1/sessions/{conversation_id}/end`. */
export type EndStep =
  | `close ${ConversationName}`
  | ('close again' | 'close bare again' | 'close of another' | 'unknown' | 'plain')
  | ('content type alone' | 'a body' | 'a body that is not JSON' | `${BadKey} key`);

/** The filters that match a name. */
export type NameFilter = 'run' | 'agent' | 'eval';

/** Steps that read results. */
export type ResultsStep =
  | ('results' | 'bare' | 'backlog' | 'ids' | 'before late spans' | 'after late spans')
  | ('after 23 hours' | 'after 24 hours' | 'plain' | 'keys' | `${BadKey} key`)
  | ('defaults' | 'whole' | 'whole again' | 'page' | 'over the cap' | 'many' | 'another owner')
  | ('traces asked for' | 'traces declined' | 'failed only' | 'started after' | 'started before')
  | (NameFilter | `${NameFilter} none` | `${NameFilter} with ${Wildcard}`)
  | ('run by session id' | 'agent by scenario' | 'agent by URL')
  | ('limit not a number' | 'limit 0' | 'skip negative' | 'boolean unreadable')
  | ('time unreadable' | 'parameter unknown' | 'no slash at the end');

/** Characters with a special meaning in SQL patterns or regular expressions. */
export type Wildcard = '%' | '_' | '.';

/** Steps of the control API. */
export type ControlStep =
  | ('health' | `make ${OwnerName}` | 'delete an eval' | 'upload' | 'many' | 'drain')
  | ('evals for bare' | 'evals for backlog' | 'score no evals' | 'score backlog' | 'ingest log')
  | ('clock' | 'clock of the rate' | 'clock as moved' | 'clock put back');

/** The step that sets the service clock back to real time. */
export const CLOCK_RESET_STEP: ControlStep = 'clock put back';

export type ServiceStep = TracesStep | EndStep | ResultsStep | ControlStep;

/** The steps of each endpoint of a service run. */
interface StepsByEndpoint {
  traces: TracesStep;
  end: EndStep;
  production: ResultsStep;
  simulations: ResultsStep;
  admin: ControlStep;
}

/** Returns whether an exchange is one of these steps of an endpoint. */
export function isStep<E extends keyof StepsByEndpoint>(
  exchange: Exchange,
  endpoint: E,
  ...steps: readonly StepsByEndpoint[E][]
): boolean {
  return stepsOf<StepsByEndpoint[E]>(endpoint)(...steps)(exchange);
}
