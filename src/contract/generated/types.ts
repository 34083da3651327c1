// Generated from schemas/ by src/contract/generate.ts, do not edit.
export type Level = 'must' | 'should' | 'target' | 'may';
export type Verdict =
  | 'pass'
  | 'fail'
  | 'warn'
  | 'note'
  | 'not_applicable'
  | 'not_observed'
  | 'not_selected'
  | 'blocked'
  | 'error';
/**
 * The exchanges that the verdict is based on; failed exchanges come first.
 */
export type Evidence = EvidenceItem[];
export type RunVerdict = 'conforming' | 'not-conforming' | 'not-judged';
/**
 * The requests that were in flight when the sandbox stopped, the most likely cause first. Empty if there were none.
 */
export type CrashSuspects = EvidenceItem[];
export type Area = 'chat' | 'health' | 'users' | 'voice' | 'service' | 'client';
export type Endpoint =
  | 'chat'
  | 'health'
  | 'create'
  | 'delete'
  | 'traces'
  | 'end'
  | 'simulations'
  | 'production'
  | 'admin'
  | 'voice'
  | 'elsewhere';
/**
 * valid: must be accepted. refuse: differs from its control in one edit and must be refused. open: the specification does not say, or a client sent the request.
 */
export type Intent = 'valid' | 'refuse' | 'open';
/**
 * protocol: the response is not HTTP, or the body is not encoded as its header says. malformed: the headers or the framing of an HTTP response can't be parsed.
 */
export type FailureKind =
  | 'unresolved'
  | 'refused'
  | 'tls'
  | 'plain_http'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'malformed'
  | 'too_large'
  | 'proxy';
/**
 * answered: the kit accepted the offer and sent its answer. unusable: the kit could not use the offer. connected, unconnected: media could flow, or could not within the time limit. speech, sound: the kit spoke, the sandbox was audible, from atMs to untilMs. released: the kit closed its side of the media.
 */
export type CallEventKind =
  | 'message'
  | 'close'
  | 'answered'
  | 'unusable'
  | 'connected'
  | 'unconnected'
  | 'speech'
  | 'sound'
  | 'released';
export type DependencyStatus = 'healthy' | 'unhealthy';
/**
 * Percentage, 0 to 100.
 */
export type Percentage = number;
export type LoadVerdict = 'PASS' | 'FAIL' | 'NOT PROVEN' | 'INVALID RUN' | 'NOT TESTED';
/**
 * How a request failed.
 */
export type FaultKind =
  | 'timeout'
  | 'refused'
  | 'unresolved'
  | 'tls'
  | 'reset'
  | 'stale_connection'
  | 'cut_off'
  | 'protocol'
  | 'too_large'
  | 'rate_limited'
  | 'unauthorized'
  | 'client_error'
  | 'server_error'
  | 'other_status'
  | 'nonconforming'
  | 'mixed_up'
  | 'proxy'
  | 'local';
/**
 * How a call failed.
 */
export type CallFaultKind =
  | 'unreachable'
  | 'refused'
  | 'unauthorized'
  | 'too_many_calls'
  | 'no_offer'
  | 'call_error'
  | 'bad_offer'
  | 'no_path'
  | 'no_media'
  | 'dropped'
  | 'path_lost'
  | 'media_stopped'
  | 'local';
export type StreamName = 'chat' | 'health' | 'users';
/**
 * open: requests at scheduled times. autocannon: a closed loop: each connection sends the next request after a response.
 */
export type LoadEngineName = 'open' | 'autocannon';
/**
 * all: mixed and voice together.
 */
export type LoadProfileName = 'chat' | 'conversation' | 'health' | 'mixed' | 'voice' | 'all';
/**
 * Spacing of requests at scheduled times; the engine autocannon has none.
 */
export type Arrivals = 'uniform' | 'poisson';
export type LoadPhase = 'ramp' | 'window' | 'drain';
/**
 * better or worse only if the 95% ranges of the two runs do not overlap.
 */
export type Change = 'better' | 'worse' | 'unchanged' | 'unknown';
/**
 * pass, fail: with the new reply. warn: it fails, but is not required. not_judged: one reply does not decide. elsewhere: it failed at another turn.
 */
export type ResentEvalVerdict = 'pass' | 'fail' | 'warn' | 'not_judged' | 'elsewhere';
/**
 * conforming: the response obeys the requirements and, for a turn of a simulation, passes the evals that failed at that turn. not-judged: nothing was sent, or the response alone does not decide.
 */
export type ResendVerdict = 'conforming' | 'not-conforming' | 'not-judged';
/**
 * not_judged: one response does not decide; reason says why.
 */
export type ResentVerdict = 'pass' | 'fail' | 'warn' | 'not_judged';
/**
 * The user hesitates this many milliseconds in the middle of the line, at the punctuation mark or space nearest to it. An agent that starts to speak in the pause mistook it for the end of the turn (a false endpoint). Only by voice.
 */
export type PauseInLine = number;
/**
 * What the user says while the agent replies to the line, to show that it listens, e.g. uh-huh. It must not stop the agent. Only by voice.
 */
export type Backchannel = string;
/**
 * The user says nothing for this many seconds before the line. Only by voice.
 */
export type Silence = number;
/**
 * How often a difference like this one occurs if nothing changed (exact test), adjusted for the number of comparisons; at most 0.05 is more than chance. Null if nothing can be compared.
 */
export type ChanceP = number | null;
/**
 * Session: failed if a required eval fails; passed if the session is completed, an eval passes, and no required eval fails or errors; otherwise undecided. Scenario: passed if enough samples pass to reach the pass rate; failed if the pass rate can no longer be reached; otherwise undecided. Run: failed if a scenario fails; otherwise undecided if a scenario is undecided; otherwise passed.
 */
export type SimulationVerdict = 'passed' | 'failed' | 'undecided';
/**
 * Why the session ended. goal_achieved, user_stop, agent_ended, max_turns: the conversation ended and is scored. timeout: a reply or the session took too long. agent_error: the sandbox responded with an error or with an invalid response. infrastructure_error: the sandbox is unhealthy, unreachable, or hung up. simulator_error: the simulated user could not continue.
 */
export type EndReason =
  | 'goal_achieved'
  | 'user_stop'
  | 'agent_ended'
  | 'max_turns'
  | 'timeout'
  | 'agent_error'
  | 'simulator_error'
  | 'infrastructure_error'
  | 'canceled';
/**
 * completed: the conversation ended and is scored. failed: it did not end properly and is not scored.
 */
export type SimulationSessionStatus =
  'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'canceled';
/**
 * From the end of a line to the first sound of the reply; null without one. A reply that began before the end of the line is an interruption or a false endpoint.
 */
export type ResponseTimes = {
  p50: number;
  p95: number;
  max: number;
} | null;
export type TurnTakingEventKind =
  | 'interruption'
  | 'backchannel'
  | 'pause'
  | 'agent_interruption'
  | 'false_endpoint'
  | 'missed_turn'
  | 'dead_air'
  | 'gap';
/**
 * Errors per word; above 1 if more was heard than said. Null without words.
 */
export type WordErrorRate = number | null;
/**
 * Percentiles over the interruptions after which the agent yielded; null without one.
 */
export type YieldTimes = {
  p50: number;
  p95: number;
} | null;
export type ScenarioStanding = {
  verdict: SimulationVerdict;
  passed: number;
  samples: number;
  [k: string]: unknown;
} | null;
/**
 * worse, better: the pass rate of all sessions or of a scenario changed more than chance explains. mixed: it fell in one respect and rose in another. no_difference: the runs show no difference, which does not prove that there is none. not_comparable: the runs have too few samples, or no scenario in common. Two runs of the same agent differ by chance in less than 5% of comparisons.
 */
export type RunChange = 'worse' | 'better' | 'mixed' | 'no_difference' | 'not_comparable';
/**
 * regressed, improved: the pass rate changed more than chance explains. unclear: it changed, which may be chance. not_comparable: too few samples passed or failed, or the evals differ.
 */
export type ScenarioChange =
  'regressed' | 'improved' | 'unclear' | 'not_comparable' | 'new' | 'gone' | 'same';
/**
 * evaluating: all sessions have ended and evals are still being scored.
 */
export type SimulationStatus = 'running' | 'evaluating' | 'completed' | 'canceled';
/**
 * Nanoseconds since the Unix epoch, as a string because a JSON number would be rounded.
 */
export type Nanoseconds = string | number;

/**
 * A fault that the reference agent injects on request.
 */
export interface AgentFault {
  kind:
    | 'latency'
    | 'rate_limit'
    | 'server_error'
    | 'degraded'
    | 'unhealthy'
    | 'health_check_failed'
    | 'malformed_body'
    | 'dropped_connection'
    | 'no_media'
    | 'silent_media'
    | 'wrong_codec'
    | 'bad_sdp'
    | 'jitter'
    | 'late_reply'
    | 'buffered_audio'
    | 'dropped_call'
    | 'never_yields'
    | 'slow_yield'
    | 'talks_over'
    | 'eager_endpoint'
    | 'deaf_after_noise'
    | 'forgets_after_barge_in';
  /**
   * The route that it affects. Default: every route that supports the fault.
   */
  route?: 'chat' | 'health' | 'users' | 'voice';
  latency?: LatencyProfile;
  /**
   * Seconds in the Retry-After header of rate_limit.
   */
  retry_after_s?: number;
  /**
   * Number of requests that the fault affects. Default: all.
   */
  times?: number;
  /**
   * Milliseconds after which the fault ends.
   */
  ttl_ms?: number;
}
/**
 * Milliseconds, drawn from the random seed between the two bounds: delay before the response or the offer (latency), delay of each packet (jitter), delay before a reply is spoken (late_reply), audio buffered inside the agent (buffered_audio, default 600), time until the call is dropped (dropped_call, default 1000), time until the agent stops when the caller speaks over it (slow_yield, default 800), speech of the caller after which the agent speaks over it (talks_over, default 600), silence that ends a turn (eager_endpoint, default 50).
 */
export interface LatencyProfile {
  min_ms: number;
  max_ms: number;
}
/**
 * Replies of the reference agent by the conditions under which it gives them. If no rule applies, the agent replies as usual.
 */
export interface AgentScript {
  /**
   * The first rule that applies gives the reply.
   *
   * @maxItems 1000
   */
  rules: ScriptRule[];
}
/**
 * A reply, and when to give it.
 */
export interface ScriptRule {
  when?: ScriptConditions;
  /**
   * Number of requests that the rule replies to. Default: all.
   */
  times?: number;
  reply: ScriptReply;
}
/**
 * All of these conditions must hold. A rule without conditions always applies.
 */
export interface ScriptConditions {
  /**
   * Text that the latest user message contains (case-insensitive). Only the first 2000 characters of the message are searched.
   */
  contains?: string;
  /**
   * JavaScript regular expression that matches part of the latest user message (case-insensitive). Only the first 2000 characters of the message are searched, for at most 100 ms.
   */
  regex?: string;
  /**
   * Number of the user's turn, starting at 1.
   */
  turn?: number;
  /**
   * Keys and values that the metadata of the request contains.
   */
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * What the agent replies.
 */
export interface ScriptReply {
  /**
   * Text of the reply.
   */
  content: string;
  /**
   * Tool calls that the reply contains. Default: none.
   */
  tool_calls?: ScriptToolCall[];
  /**
   * Sent as evaluation_metadata of the response (spec 2.8). Default: empty.
   */
  evaluation_metadata?: {
    [k: string]: unknown;
  };
  /**
   * Milliseconds to wait before the reply. Default: 0.
   */
  delay_ms?: number;
}
/**
 * A tool call with its result.
 */
export interface ScriptToolCall {
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Arguments of the call as an object. The response contains them as JSON-encoded text (spec 2.8).
   */
  arguments: {
    [k: string]: unknown;
  };
  /**
   * Result of the tool.
   */
  result: {
    [k: string]: unknown;
  };
}
/**
 * The audio format that the service offers.
 */
export interface AudioConfig {
  /**
   * Name of the codec, e.g. opus.
   */
  codec: string;
  /**
   * Hertz, e.g. 48000.
   */
  sampleRate?: number;
  [k: string]: unknown;
}
/**
 * Sent by the sandbox when the call is set up; contains the WebRTC offer.
 */
export interface CallReady {
  type: 'call_ready';
  session_id?: string;
  call_id: string;
  webrtc_offer: WebrtcOffer;
  metadata?: CallReadyMetadata;
  evaluation_metadata?: CallReadyHints;
  [k: string]: unknown;
}
export interface WebrtcOffer {
  type: 'offer';
  sdp: string;
  [k: string]: unknown;
}
export interface CallReadyMetadata {
  agent_ready?: boolean;
  audio_codec?: string;
  /**
   * Free text; the specification sets no unit.
   */
  estimated_setup_time?: string;
  captions?: unknown;
  [k: string]: unknown;
}
export interface CallReadyHints {
  connection_quality?: string;
  setup_success?: boolean;
  audio_path_established?: boolean;
  [k: string]: unknown;
}
/**
 * Sent by the service when the caller starts to speak: the text of the speech. Only sent if call_ready.metadata.captions is true.
 */
export interface Caption {
  type: 'caption';
  session_id?: string;
  call_id: string;
  /**
   * The spoken text, at most 2000 characters; longer text may be cut.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * The body of POST /v1/chat/completions. It never contains tool definitions: the agent runs its own tools.
 */
export interface ChatRequest {
  /**
   * The conversation so far, oldest first.
   */
  messages: ChatMessage[];
  /**
   * Id of the simulated user.
   */
  user_id?: string;
  /**
   * Id of the session; the response echoes it.
   */
  session_id?: string;
  metadata?: ScenarioMetadata;
  [k: string]: unknown;
}
export interface ChatMessage {
  /**
   * Author of the message.
   */
  role: 'system' | 'user' | 'assistant';
  /**
   * Text of the message.
   */
  content: string;
  [k: string]: unknown;
}
/**
 * Free-form context of the scenario; unknown keys are legal.
 */
export interface ScenarioMetadata {
  scenario_id?: string;
  persona?: string;
  time_of_day?: string;
  [k: string]: unknown;
}
/**
 * The sandbox's response to a chat request.
 */
export interface ChatResponse {
  /**
   * The agent's reply, usually as the only entry.
   *
   * @minItems 1
   */
  choices: [ChatChoice, ...ChatChoice[]];
  /**
   * The session id of the request.
   */
  session_id?: string;
  /**
   * The agent's own id for the conversation.
   */
  chat_id?: string;
  metadata?: ReplyMetadata;
  evaluation_metadata?: EvaluationHints;
  [k: string]: unknown;
}
export interface ChatChoice {
  /**
   * Position in the list, typically 0.
   */
  index?: number;
  message: AgentMessage;
  /**
   * Why the reply ended, typically stop.
   */
  finish_reason?: string;
  [k: string]: unknown;
}
export interface AgentMessage {
  role: 'assistant';
  /**
   * Text of the reply; a string even when the reply contains tool calls.
   */
  content: string;
  /**
   * Every tool call of this reply with its result, in order.
   */
  tool_calls?: ToolCall[];
  [k: string]: unknown;
}
/**
 * A tool that the agent called for its reply, with the result.
 */
export interface ToolCall {
  /**
   * Id of the call.
   */
  id: string;
  /**
   * The only kind of tool.
   */
  type: 'function';
  function: ToolFunction;
  [k: string]: unknown;
}
export interface ToolFunction {
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Arguments of the call as a JSON-encoded string.
   */
  arguments: string;
  /**
   * Result of the tool as an object, not encoded.
   */
  result: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ReplyMetadata {
  /**
   * Fraction, 0 to 1.
   */
  agent_confidence?: number;
  /**
   * Milliseconds.
   */
  response_time_ms?: number;
  /**
   * Names of the tools that the agent used.
   */
  tools_used?: string[];
  [k: string]: unknown;
}
/**
 * Free-form evaluation hints; no key is required and every key is legal.
 */
export interface EvaluationHints {
  [k: string]: unknown;
}
export interface EvidenceItem {
  exchange: number;
  step: string;
  request: string;
  outcome: string;
  /**
   * Trace id of the `traceparent` that the request carried. Absent if the request could not be sent.
   */
  traceId?: string;
  [k: string]: unknown;
}
/**
 * The judgment of a check run. Later versions may add keys; no key is renamed or removed within a major version.
 */
export interface CheckReport {
  verdict: RunVerdict;
  exitCode: 0 | 1 | 3 | 70;
  kitVersion: string;
  suite: string;
  /**
   * The requirement set that judged the run, such as 0.2: all requirements up to that release. Requirements that were added later are notes at most. A preview, such as version 0.1 of the kit, judges by the set of the next release.
   */
  requirementSet?: string;
  target: string;
  seed: string;
  startedAt: string;
  endedAt: string;
  /**
   * The version that the newest response to GET /health reported. Absent if none did.
   */
  agentVersion?: string;
  blockedBy?: BlockedBy;
  counts: VerdictCounts;
  coverage?: Coverage;
  observedBehavior: ObservedBehaviors;
  tried?: Tried;
  /**
   * Waived rules with the reason.
   */
  waived: string[];
  /**
   * What a reader needs to know in addition to the verdict, e.g. that media was not judged and how to change that. Absent if there is nothing.
   */
  notices?: string[];
  /**
   * Each time the sandbox stopped accepting connections during the run. Absent if it never did.
   */
  crashes?: Crash[];
  resendable?: ResendableExchanges;
  /**
   * Ids in the known-failures file whose requirement is met now. Remove them from the file: until then the verdict is not-conforming, even if the sandbox breaks nothing else.
   */
  staleKnownFailures?: string[];
  comparison?: CheckComparison;
  requirements: RequirementVerdict[];
  /**
   * Every call, including those whose WebSocket did not open, ordered by end time. Only in runs that include the area voice.
   */
  calls?: CallSummary[];
  audioLatency?: AudioLatency;
  /**
   * Changes that clear failures, the one that clears most first. Each change was applied to the recorded responses after the changes before it, and the recording was judged again; clears lists the requirements that then no longer failed or were blocked.
   */
  causes: Cause[];
  [k: string]: unknown;
}
/**
 * The one cause that prevented a judgment.
 */
export interface BlockedBy {
  id: string;
  message: string;
  cure: string;
  evidence: Evidence;
  [k: string]: unknown;
}
/**
 * Number of requirements with each verdict.
 */
export interface VerdictCounts {
  [k: string]: number;
}
/**
 * How many of the requirements were judged, and what would let the others be judged. Requirements that were not selected or do not apply are not counted. Absent in reports of earlier versions.
 */
export interface Coverage {
  /**
   * Requirements with the verdict pass, fail, warn, or note.
   */
  judged: number;
  total: number;
  /**
   * The reasons why requirements were not judged, most frequent first.
   */
  unjudged: UnjudgedReason[];
  [k: string]: unknown;
}
export interface UnjudgedReason {
  reason: string;
  /**
   * What would let the requirements be judged.
   */
  remedy?: string;
  /**
   * Ids.
   */
  requirements: string[];
  [k: string]: unknown;
}
/**
 * What this sandbox does where the specification is silent.
 */
export interface ObservedBehaviors {
  [k: string]: string;
}
/**
 * What the requests of the run contained, the same for every seed. Absent if the peer is not a sandbox, and in reports of version 0.1.
 */
export interface Tried {
  /**
   * The kinds of texts by position.
   */
  texts: TriedTexts[];
  /**
   * The size of the largest accepted request body of each area, in bytes.
   */
  largestAcceptedBytes: {
    [k: string]: number;
  };
  [k: string]: unknown;
}
export interface TriedTexts {
  area: string;
  /**
   * Places in a request with the same kinds of texts, such as earlier user message.
   */
  positions: string[];
  /**
   * Kinds of texts, such as accented letters.
   */
  kinds: string[];
  [k: string]: unknown;
}
export interface Crash {
  /**
   * Milliseconds from the first failed connection until the sandbox responded again, or until the kit stopped waiting.
   */
  downMs: number;
  /**
   * Whether the sandbox responded again within the time that the kit waits.
   */
  cameBack: boolean;
  suspects: CrashSuspects;
  /**
   * Numbers of those suspects whose request failed in the same way when it was sent again, alone.
   */
  crashedAgain: number[];
  [k: string]: unknown;
}
/**
 * What sandbox-kit resend needs to send requests of the run again: the exchanges that findings, crashes, and the cause that blocked the run name, and those that they depend on. Only in reports about a sandbox; absent if there are none.
 */
export interface ResendableExchanges {
  run: RunRecord;
  /**
   * Ordered by number. A large body is stored as its beginning and size.
   */
  exchanges: ResendableExchange[];
  [k: string]: unknown;
}
/**
 * The settings of a check run; the first line of its transcript.
 */
export interface RunRecord {
  record: 'run';
  kitVersion: string;
  /**
   * Name of the set of requirements.
   */
  suite: string;
  /**
   * Base URL of the sandbox, or of the service. For the area client: of the service that recorded the client.
   */
  target: string;
  seed: string;
  startedAt: string;
  areas: Area[];
  /**
   * Ids of the requirements that --only and --skip selected. Absent if the run judges all requirements of its areas.
   */
  selected?: string[];
  /**
   * Whether HTTPS was waived.
   */
  allowHttp: boolean;
  /**
   * Whether a key was sent.
   */
  keyGiven: boolean;
  /**
   * Lowercase names of the additional headers of every request, from --header-file.
   */
  headerNames?: string[];
  /**
   * Whether a client certificate was offered.
   */
  certificateGiven?: boolean;
  /**
   * Host and port of the proxy for the requests.
   */
  proxy?: string;
  /**
   * Whether large, numerous, or slow requests were sent and the clock of the admin API was moved. Only for runs against a service.
   */
  intrusive?: boolean;
  /**
   * Name of the header with the service key, if it is not x-service-api-key.
   */
  apiKeyHeader?: string;
  /**
   * URL of the voice WebSocket. Only in runs that include the area voice.
   */
  voiceUrl?: string;
  /**
   * Number of requests that arrived after the recording was full. Only for the area client; absent if there are none.
   */
  droppedRequests?: number;
  /**
   * Whether the run was interrupted.
   */
  interrupted?: boolean;
  /**
   * Ids of the probes that an interruption kept from sending everything. Only in interrupted runs of check.
   */
  unfinishedProbes?: string[];
  /**
   * Maximum number of requests in flight.
   */
  concurrency: number;
}
export interface ResendableExchange {
  exchange: ExchangeRecord;
  /**
   * Ids of the requirements whose verdict is based on the exchange.
   */
  judgedBy: string[];
  /**
   * Ids of those requirements that the exchange breaks.
   */
  breaks: string[];
  /**
   * Numbers of the other exchanges that its findings are about. They are sent again as well: at the same moment if they overlapped in the run, or else in the same order.
   */
  companions?: number[];
  [k: string]: unknown;
}
/**
 * One HTTP request of a check run with its response or failure, or one call: the WebSocket upgrade and everything that followed. Secrets are redacted.
 */
export interface ExchangeRecord {
  record: 'exchange';
  /**
   * Number of the exchange in the run, starting at 1.
   */
  id: number;
  /**
   * Id of the probe that sent the request; client for a request that a client sent to the service.
   */
  probe: string;
  /**
   * Name of the request within the probe.
   */
  step: string;
  endpoint: Endpoint;
  intent: Intent;
  /**
   * Id of the control exchange. This exchange differs from it in one edit.
   */
  control?: number;
  /**
   * Id of the failed exchange whose request was sent again here, while no other request was in flight. Absent if the request was sent for the first time or again after a 429.
   */
  repeats?: number;
  /**
   * What is special about a generated request, such as "two user messages in a row". Empty for the plain request that it differs from; absent if the request is not generated.
   */
  properties?: string[];
  /**
   * Name of the owner whose key the request has, of those that a run creates through the control API of a service. Absent if the request has another key, or none.
   */
  owner?: string;
  /**
   * Present if the request used the connection that all such requests of the run share.
   */
  connection?: 'keep-alive';
  request: RecordedRequest;
  response?: RecordedResponse;
  failure?: ExchangeFailure;
  call?: RecordedCall;
  /**
   * Milliseconds since the run began.
   */
  startedMs: number;
  /**
   * Milliseconds since the run began.
   */
  endedMs: number;
  /**
   * Milliseconds by which the kit itself was late during the exchange, because its process or the machine was busy. Absent if it was not.
   */
  kitLateMs?: number;
}
export interface RecordedRequest {
  method: string;
  path: string;
  headers: RecordedHeaders;
  /**
   * The body as text; a description if the bytes are not text; the beginning if the body is too large to store.
   */
  body?: string;
  /**
   * The bytes of a body that is not text, such as protobuf or gzip.
   */
  bodyBase64?: string;
  /**
   * Size of a body that was too large to store. Absent if the body is stored.
   */
  bodyBytes?: number;
  /**
   * Present if a client closed the connection, or the run ended, before the body of its request was complete. The body is the part that arrived.
   */
  bodyCut?: true;
}
/**
 * Header names are lower case; repeated headers are joined with commas.
 */
export interface RecordedHeaders {
  [k: string]: string;
}
export interface RecordedResponse {
  status: number;
  headers: RecordedHeaders;
  /**
   * The body as text, at most 4 MiB. Bytes that are not UTF-8 are shown as U+FFFD.
   */
  body: string;
  /**
   * The bytes of a body that is not UTF-8. Absent if it is.
   */
  bodyBase64?: string;
  /**
   * Size of a body whose beginning alone is stored. Only in reports; absent if the body is stored.
   */
  bodyBytes?: number;
}
/**
 * Why there is no complete response.
 */
export interface ExchangeFailure {
  kind: FailureKind;
  message: string;
  /**
   * The status, if one was received.
   */
  status?: number;
}
/**
 * What followed the upgrade. Only for exchanges with the voice endpoint whose WebSocket opened.
 */
export interface RecordedCall {
  /**
   * Ordered by time, at most 2000.
   */
  events: CallEvent[];
  media?: CallMedia;
}
/**
 * A message, the close of the WebSocket, or a change of the media.
 */
export interface CallEvent {
  /**
   * Milliseconds since the run began.
   */
  atMs: number;
  from: 'kit' | 'sandbox';
  kind: CallEventKind;
  /**
   * Text of the message, at most 65536 characters.
   */
  text?: string;
  /**
   * Size of a message that was too long to store. Absent if the message is stored completely.
   */
  bytes?: number;
  /**
   * Whether the message arrived in a binary frame.
   */
  isBinary?: boolean;
  /**
   * The close code of the WebSocket; 1006 if there was none.
   */
  code?: number;
  /**
   * The reason of the close, why media failed, or which clip was spoken.
   */
  detail?: string;
  /**
   * When the speech or sound ended, in milliseconds since the run began.
   */
  untilMs?: number;
}
/**
 * The received audio, and how punctual the kit was.
 */
export interface CallMedia {
  /**
   * Payload type of Opus as negotiated; -1 if the answer has none.
   */
  payloadType: number;
  /**
   * Whether the sandbox used the credentials of the answer (ICE).
   */
  hasPath: boolean;
  /**
   * In order of arrival, at most 20000.
   */
  packets: CallPacket[];
  /**
   * Round trips of STUN requests on the media path, in the order sent.
   */
  roundTripsMs: number[];
  /**
   * Number of packets that the kit sent.
   */
  sent: number;
  /**
   * 99th percentile of the delay with which the kit sent its own packets.
   */
  lateMs: number;
  /**
   * Addresses of candidates that the kit sent nothing to, because the sandbox is in another network.
   *
   * @maxItems 64
   */
  refusedAddresses?: string[];
}
export interface CallPacket {
  /**
   * Time of arrival in milliseconds since the run began.
   */
  atMs: number;
  sequence: number;
  timestamp: number;
  payloadType: number;
  ssrc: number;
  /**
   * Size of the payload.
   */
  bytes: number;
  /**
   * Duration of the audio in the packet, in 1/48000 s; 0 if it is not an Opus packet.
   */
  ticks: number;
  /**
   * Level of each 10 ms of the packet in dB relative to a full-scale sine, -127 for silence. Absent if the packet does not decode.
   */
  levelsDb?: number[];
}
/**
 * Differences from the earlier report that was passed with --compare. They do not change the verdict or the exit code.
 */
export interface CheckComparison {
  /**
   * Start of the earlier run.
   */
  startedAt: string;
  /**
   * Settings that differ between the runs, one sentence each.
   */
  differences: string[];
  /**
   * How many requirements could be judged for the first time, and how many of them fail. Absent if there are none.
   */
  sentence?: string;
  /**
   * Ids of requirements with a worse verdict than before (pass or note, then warn, then fail). Each id is in exactly one of these lists.
   */
  regressions: string[];
  /**
   * Ids of requirements that fail or warn now and that the earlier run did not select, or found not applicable or not observed.
   */
  newFailures: string[];
  /**
   * Ids of requirements with a better verdict than before.
   */
  fixes: string[];
  /**
   * Ids of requirements that fail in both runs, or warn in both.
   */
  stillFailing: string[];
  /**
   * Ids of requirements that could not be judged before (blocked or error) and that have a verdict now. A failure among them is not a regression: the earlier run could not see it.
   */
  firstJudged: string[];
  /**
   * Ids of requirements that the earlier run did not select or did not know, and that do not fail.
   */
  onlyNow: string[];
  /**
   * Ids of requirements that the earlier run selected and that this kit does not know. Requirements that this run does not select are in no list.
   */
  onlyBefore: string[];
  /**
   * Ids of requirements with another change: for example between pass and note, or from a verdict to blocked.
   */
  otherChanges: string[];
  /**
   * Ids of all other requirements: the verdict is the same in both runs.
   */
  unchanged: string[];
}
export interface RequirementVerdict {
  id: string;
  area: string;
  level: Level;
  /**
   * Section of the specification.
   */
  section: string;
  /**
   * Numbered statements of the specification that it covers.
   */
  statements: string[];
  verdict: Verdict;
  rule: string;
  /**
   * The release that added the requirement, such as 0.2.
   */
  since?: string;
  /**
   * Present if the requirement was added after the requirement set of the run. It is then a note at most, and counts neither for nor against the run.
   */
  addedLater?: true;
  /**
   * The reason in the known-failures file for accepting this failure. An accepted failure does not count against the run.
   */
  accepted?: string;
  /**
   * Why the requirement was not judged.
   */
  reason?: string;
  /**
   * What would let the requirement be judged.
   */
  remedy?: string;
  expected?: string;
  received?: string;
  /**
   * JSON pointer into the response body of the first finding.
   */
  pointer?: string;
  /**
   * What the sandbox itself said in the response of the first finding: the message of the error, or the title of an HTML page, in one line.
   */
  message?: string;
  hint?: string;
  /**
   * Shell command that repeats the request of the first finding. If the finding needs speech or media, the command places the calls again.
   */
  curl?: string;
  /**
   * Number of findings.
   */
  findings?: number;
  evidence: Evidence;
  [k: string]: unknown;
}
/**
 * One call. Times are in milliseconds.
 */
export interface CallSummary {
  exchange: number;
  step: string;
  /**
   * Short description.
   */
  outcome: string;
  /**
   * From start_call to call_ready.
   */
  readyMs?: number;
  /**
   * From the WebRTC answer until media could flow. About 100 ms of this is spent in the kit.
   */
  connectedMs?: number;
  /**
   * From the connection to the first packet.
   */
  firstPacketMs?: number;
  /**
   * From the connection to the first audible packet.
   */
  firstSoundMs?: number;
  /**
   * Number of turns that the kit spoke.
   */
  turns: number;
  /**
   * From the end of each turn until the sandbox was audible; negative if it spoke before the turn ended.
   */
  turnResponsesMs?: number[];
  /**
   * The same latency as reported by the sandbox in its updates.
   */
  statedResponsesMs?: number[];
  packets: number;
  /**
   * Number of packets that never arrived.
   */
  lost: number;
  /**
   * The longest time between two packets.
   */
  gapMaxMs?: number;
  /**
   * Depth of the jitter buffer at which 1 packet in 100 arrives late.
   */
  transitP99Ms?: number;
  roundTripP95Ms?: number;
  /**
   * Total duration of audible audio.
   */
  soundMs: number;
  /**
   * 99th percentile of the delay with which the kit sent its own packets.
   */
  kitLateMs?: number;
  closeCode?: number;
  [k: string]: unknown;
}
/**
 * Voice audio latency compared with its target of 200 ms. Only in runs where media flowed.
 */
export interface AudioLatency {
  verdict: 'met' | 'missed' | 'not_proven';
  reason: string;
  /**
   * Network path latency at the 95th percentile over calls: half a round trip, one packet, and the jitter buffer. It does not include buffers inside the sandbox.
   */
  audioPathLatencyMs?: number;
  turnResponseMs?: TurnResponseFigures;
  /**
   * Why the kit was too slow for a reliable measurement.
   */
  kitLimit?: string;
  [k: string]: unknown;
}
/**
 * Response latency over all turns: from the end of the kit's speech until the sandbox was audible.
 */
export interface TurnResponseFigures {
  turns: number;
  p50: number;
  p95: number;
  max: number;
  [k: string]: unknown;
}
export interface Cause {
  description: string;
  clears: string[];
  verified: boolean;
  example?: CauseExample;
  [k: string]: unknown;
}
/**
 * A finding that the change clears, of the most specific requirement. Absent if the change clears only blocked requirements, and in reports of version 0.1 and 0.2.
 */
export interface CauseExample {
  /**
   * Id of the requirement.
   */
  requirement: string;
  expected: string;
  received: string;
  /**
   * JSON pointer into the response body; empty if the finding concerns the whole response.
   */
  pointer: string;
  /**
   * What the sandbox itself said: the message of the error, or the title of an HTML page, in one line.
   */
  message?: string;
  hint?: string;
  /**
   * Shell command that repeats the request.
   */
  curl?: string;
  exchange: EvidenceItem;
  [k: string]: unknown;
}
/**
 * Sets or advances the service clock; exactly one of the two keys. PUT accepts set_ms only. The clock ends with the year 9999. A restart returns it to system time, a reset does not.
 */
export interface ClockChange {
  /**
   * Milliseconds to advance.
   */
  advance_ms?: number;
  /**
   * Milliseconds since the Unix epoch.
   */
  set_ms?: number;
}
/**
 * The service's response to POST /v1/sessions/{conversation_id}/end.
 */
export interface ClosedConversation {
  /**
   * The closed conversation.
   */
  conversation_id: string;
  status: 'evaluating';
  /**
   * Name of the daily run: base name plus date.
   */
  run: string;
  /**
   * Number of evals that this call queued; 0 for a repeated call.
   */
  evaluations_queued: number;
  /**
   * Present and true for a repeated call.
   */
  already_closed?: true;
  [k: string]: unknown;
}
/**
 * Sent by the sandbox: the transcript of a turn.
 */
export interface ConversationUpdate {
  type: 'conversation_update';
  session_id?: string;
  call_id: string;
  transcript: TurnTranscript;
  tool_calls?: unknown;
  metadata?: TurnMetadata;
  evaluation_metadata?: TurnHints;
  [k: string]: unknown;
}
export interface TurnTranscript {
  user: string;
  agent: string;
  [k: string]: unknown;
}
export interface TurnMetadata {
  audio_quality?: string;
  /**
   * Milliseconds.
   */
  response_time_ms?: number;
  confidence_score?: number;
  interrupted?: unknown;
  [k: string]: unknown;
}
export interface TurnHints {
  understood_intent?: boolean;
  appropriate_response?: boolean;
  tone?: string;
  next_action?: string;
  [k: string]: unknown;
}
/**
 * Sent by the service at the end of a call. The sandbox may ignore it; closing the WebSocket ends the call.
 */
export interface EndCall {
  type: 'end_call';
  session_id?: string;
  call_id?: string;
  [k: string]: unknown;
}
/**
 * An eval: one scoring criterion and how to score it.
 */
export interface EvalDefinition {
  id: string;
  /**
   * Shown as eval_name.
   */
  name: string;
  /**
   * Free text, shown as eval_category. Default: general.
   */
  category?: string;
  /**
   * Default: session_level.
   */
  type?: 'session_level' | 'turn_level';
  /**
   * The kinds that measure turn-taking or what was heard need the audio of a call, so a chat can't be scored with them.
   */
  kind:
    | 'contains'
    | 'regex'
    | 'tool_called'
    | 'tool_args'
    | 'tool_order'
    | 'max_turns'
    | 'max_latency'
    | 'no_repetition'
    | 'json_path'
    | 'evaluation_metadata'
    | 'judge'
    | 'yields_within_ms'
    | 'never_interrupts'
    | 'responds_within_ms'
    | 'no_false_endpoint'
    | 'no_dead_air'
    | 'heard_word_error_rate_max';
  /**
   * Parameters of the kind; see the rules below.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * What goes wrong for the user if the eval fails; shown with a failure of a simulated session.
   */
  reason?: string;
  /**
   * If false, a failure counts as an outcome but does not fail the session. Default: true.
   */
  required?: boolean;
}
/**
 * The outcome of one eval for a session.
 */
export interface EvalOutcome {
  eval_name: string;
  /**
   * Free text.
   */
  eval_category: string;
  /**
   * The specification shows session_level; turn_level is our extension.
   */
  eval_type: string;
  /**
   * The specification shows pass; fail is our extension.
   */
  outcome: string;
  reasoning: string;
  /**
   * Our extension, in reports of simulations: the turn that decides the outcome, if it is one turn: its session_sequence, which counts interruptions too.
   */
  turn?: number;
  /**
   * Our extension, in reports of simulations: what goes wrong for the user if the eval fails.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * The reviews by people of the outcomes of an eval.
 */
export interface EvalReviews {
  eval: ReviewedEval;
  /**
   * Reviewed outcomes of the current version of the eval, and of uploads.
   */
  reviewed: number;
  /**
   * Those of them that were marked right.
   */
  right: number;
  /**
   * Cohen's kappa of the eval and the people; null with fewer than 20 reviews, or if all labels are the same.
   */
  kappa: number | null;
  /**
   * Reviews of all versions. `reviews` has the newest 1,000 of them.
   */
  total: number;
  /**
   * @maxItems 1000
   */
  reviews: OutcomeReview[];
  [k: string]: unknown;
}
export interface ReviewedEval {
  id: string;
  name: string;
  /**
   * Differs if the kind or the parameters of the eval do.
   */
  version: string;
  [k: string]: unknown;
}
export interface OutcomeReview {
  session_id: string;
  /**
   * Page of the session; null if its simulation was deleted.
   */
  url: string | null;
  /**
   * What the eval decided.
   */
  outcome: 'pass' | 'fail';
  /**
   * What a person thinks of the outcome.
   */
  mark: 'right' | 'wrong';
  /**
   * Why; empty without a note.
   */
  note: string;
  /**
   * When it was marked (ISO 8601).
   */
  at: string;
  /**
   * Version of the eval that gave the outcome; null if it was uploaded.
   */
  eval_version: string | null;
  [k: string]: unknown;
}
/**
 * The sandbox's response to GET /health. The status is 200 for healthy and degraded, 503 for unhealthy.
 */
export interface Health {
  status: 'healthy' | 'degraded' | 'unhealthy';
  timestamp: string;
  /**
   * Version of the customer's agent.
   */
  version?: string;
  /**
   * Seconds.
   */
  uptime?: number;
  /**
   * For voice agents. The specification shows operational.
   */
  webrtc_status?: string;
  dependencies?: Dependencies;
  metrics?: Metrics;
  error?: HealthFailure;
  [k: string]: unknown;
}
export interface Dependencies {
  database?: DependencyStatus;
  llm_service?: DependencyStatus;
  external_apis?: DependencyStatus;
  [k: string]: unknown;
}
export interface Metrics {
  /**
   * Milliseconds.
   */
  response_time_avg?: number;
  error_rate?: Percentage;
  memory_usage?: Percentage;
  cpu_usage?: Percentage;
  [k: string]: unknown;
}
/**
 * What is wrong. Only present if unhealthy.
 */
export interface HealthFailure {
  message: unknown;
  details: unknown;
  [k: string]: unknown;
}
/**
 * Sent by either side: an additional ICE candidate. Optional, because the SDP already contains every candidate.
 */
export interface IceCandidate {
  type: 'ice_candidate';
  session_id?: string;
  call_id: string;
  candidate: IceCandidateLine;
  [k: string]: unknown;
}
export interface IceCandidateLine {
  /**
   * The candidate line; empty after the last candidate.
   */
  candidate: string;
  sdpMid?: string;
  sdpMLineIndex?: number;
  [k: string]: unknown;
}
/**
 * An API key and its owner.
 */
export interface KeyGrant {
  /**
   * Visible ASCII characters. Default: generated.
   */
  key?: string;
  /**
   * Name of the owner; created if it does not exist. Default: the owner of the request.
   */
  owner?: string;
  /**
   * Tells this key from others in the list of keys.
   */
  label?: string;
}
/**
 * Settings of live traces: which evals score every conversation, and the base name of the daily run.
 */
export interface LiveSettings {
  /**
   * Ids of evals.
   *
   * @maxItems 5
   */
  evals?: string[];
  run_name?: string;
}
/**
 * Number of errors of each kind. Kinds that did not occur are absent.
 */
export interface FaultCounts {
  [k: string]: number;
}
/**
 * Milliseconds; null if nothing was measured.
 */
export interface LatencySummary {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
  mean: number | null;
  [k: string]: unknown;
}
/**
 * Results of the requests of one kind that were due in the steady state.
 */
export interface StreamReport {
  /**
   * Number of requests due in the steady state. For the engine autocannon, which has no schedule, the number of requests sent that ended.
   */
  offered: number;
  /**
   * Number of requests sent; lower than offered only if the load generator failed.
   */
  sent: number;
  /**
   * Number of responses that arrived in time with 2xx, obey the interface, and belong to the session of the request.
   */
  ok: number;
  /**
   * Number of these responses within the target time. For the engine autocannon, the service time counts.
   */
  goodput: number;
  errors: FaultCounts;
  latencyMs: LatencySummary1;
  serviceMs: LatencySummary;
  lagMs: LatencySummary2;
  firstByteMs: LatencySummary;
  offeredPerSecond: number;
  okPerSecond: number;
  /**
   * The longest Retry-After of a 429 in seconds.
   */
  retryAfterS?: number;
  /**
   * Requirements that responses did not meet, most frequent first.
   */
  findings?: {
    [k: string]: number;
  };
  [k: string]: unknown;
}
/**
 * Response times, from the intended start. null for the engine autocannon, which has no schedule.
 */
export interface LatencySummary1 {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
  mean: number | null;
  [k: string]: unknown;
}
/**
 * Milliseconds; null if nothing was measured.
 */
export interface LatencySummary2 {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
  mean: number | null;
  [k: string]: unknown;
}
/**
 * Number of errors of each kind. Kinds that did not occur are absent.
 */
export interface CallFaultCounts {
  [k: string]: number;
}
/**
 * Milliseconds; null if nothing was measured.
 */
export interface VoiceSummary {
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  mean: number | null;
  [k: string]: unknown;
}
/**
 * Samples and hits in a stretch of time.
 */
export interface ShardBlock {
  samples: number;
  hits: number;
  [k: string]: unknown;
}
/**
 * A histogram of durations in microseconds with three significant digits.
 */
export interface ShardHistogram {
  /**
   * HdrHistogram V2, compressed, in Base64.
   */
  encoded: string;
  /**
   * Sum of the durations in microseconds.
   */
  sumUs: number;
  /**
   * The longest duration in milliseconds.
   */
  maxMs: number;
  [k: string]: unknown;
}
/**
 * Whether the load generator kept up. If it did not, no target is judged, except that a latency target can still pass when isOnlyLate is true.
 */
export interface SelfCheck {
  valid: boolean;
  /**
   * True if the run is invalid only because the load generator was late or busy. It sent every request, and the response times include its lag.
   */
  isOnlyLate?: boolean;
  /**
   * Why the run is not valid.
   */
  reasons: string[];
  figures: SelfCheckFigure[];
  [k: string]: unknown;
}
export interface SelfCheckFigure {
  name: string;
  value: number;
  limit: number;
  unit: string;
  holds: boolean;
  [k: string]: unknown;
}
/**
 * The machine that generated the load.
 */
export interface GeneratorMachine {
  node: string;
  cpus: number;
  cpuModel: string;
  /**
   * Processor use of the load generator during the steady state, as a percentage of one core.
   */
  cpuPercent: number;
  engineVersion: string;
  [k: string]: unknown;
}
/**
 * The verdict of a load run. Times are in milliseconds. Latency is measured from the intended start of a request; the engine autocannon has no schedule and measures service times only. Later versions may add keys; no key is renamed or removed within a major version.
 */
export interface LoadReport {
  verdict: LoadVerdict;
  exitCode: 0 | 1 | 3;
  /**
   * The verdict in one sentence.
   */
  sentence: string;
  kitVersion: string;
  /**
   * Base URL of the sandbox.
   */
  sandbox: string;
  seed: string;
  startedAt: string;
  endedAt: string;
  /**
   * The version that GET /health reported before the run. Absent if it reported none.
   */
  agentVersion?: string;
  blockedBy?: LoadBlocker;
  /**
   * Why the run ended early. Its verdict is based on the measurements until then.
   */
  aborted?: string;
  plan: LoadPlan;
  shard?: LoadShard;
  /**
   * The shards of a merged report, in order. Absent in the report of a single run.
   */
  mergedFrom?: MergedShard[];
  targets: LoadTarget[];
  selfCheck: SelfCheck;
  chat?: StreamReport;
  health?: StreamReport;
  users?: StreamReport;
  /**
   * The kinds of requests that were sent.
   */
  streams: StreamName[];
  warmUp?: WarmUp;
  outages?: Outages;
  trend?: InFlightTrend;
  /**
   * One entry per second, from the ramp-up to the end of the drain.
   */
  timeline: LoadSecond[];
  /**
   * Upper bounds of the classes of heat in milliseconds; the last class has no bound.
   */
  heatBoundsMs?: number[];
  /**
   * Response and service times of the main stream by percentile.
   */
  curve?: CurvePoint[];
  /**
   * The first error of each kind.
   */
  faultSamples: FaultSample[];
  /**
   * The slowest requests of the main stream in the steady state, slowest first. A request that timed out counts with its deadline.
   */
  slowest?: SlowSample[];
  findMaxCalls?: MaxCalls;
  findMax?: MaxRate;
  comparison?: LoadComparison;
  machine?: GeneratorMachine;
  /**
   * What else a reader needs to know: blind spots and waivers.
   */
  notes: string[];
  voice?: VoiceLoad;
  [k: string]: unknown;
}
/**
 * Why the run was not started or did not continue, and what to do about it.
 */
export interface LoadBlocker {
  /**
   * The cause, by the name that it has in reports of check.
   */
  id?: string;
  message: string;
  cure: string;
  [k: string]: unknown;
}
/**
 * The load plan, fixed before the first request.
 */
export interface LoadPlan {
  engine: LoadEngineName;
  profile: LoadProfileName;
  /**
   * Number of connections. Only for the engine autocannon.
   */
  connections?: number;
  arrivals: Arrivals;
  /**
   * Chat requests per second; health requests per second for the profile health. 0 for the profile voice and for the engine autocannon, which have no planned rate.
   */
  ratePerSecond: number;
  /**
   * Number of concurrent simulated users. Only for the profile conversation.
   */
  simulatedUsers?: number;
  /**
   * Length of the steady state in milliseconds.
   */
  windowMs: number;
  /**
   * Length of the closed-loop warm-up in milliseconds.
   */
  warmUpMs: number;
  /**
   * Length of the ramp-up between warm-up and steady state in milliseconds.
   */
  rampMs: number;
  /**
   * Percentile of the response times that is judged.
   */
  percentile: number;
  /**
   * Approximate number of requests of the whole run. For the engine autocannon, the most that it sends.
   */
  requests: number;
  /**
   * Number of these requests that reach a model.
   */
  modelCalls: number;
  /**
   * Number of concurrent calls. Only for the profiles voice and all.
   */
  calls?: number;
  /**
   * Network from the callers to the sandbox, which loses and delays packets. Absent for the real network alone. Only for the profiles voice and all.
   */
  network?: 'mobile' | 'train' | 'crowded' | 'narrow';
  /**
   * Calls placed per second until all are up.
   */
  callsPerSecond?: number;
  [k: string]: unknown;
}
/**
 * The part of a sharded run that this report covers. plan describes the whole run; the measurements are those of this part. Only the merged report of all shards has verdicts.
 */
export interface LoadShard {
  /**
   * Number of the shard, from 1 to count.
   */
  index: number;
  /**
   * Number of shards of the run.
   */
  count: number;
  /**
   * The start of the ramp-up that was requested with --start-at.
   */
  startAt?: string;
  /**
   * SHA-256 of the messages of the scenarios. Absent with the built-in messages.
   */
  messagesDigest?: string;
  measurements?: ShardMeasurements;
  [k: string]: unknown;
}
/**
 * The data that load --merge needs to calculate the merged report, in addition to the other fields of this report. Absent if the run did not start.
 */
export interface ShardMeasurements {
  /**
   * When the steady state began, on the clock of the load generator.
   */
  windowStartedAt: string;
  /**
   * Length of the part of the steady state that was run, in milliseconds.
   */
  ranMs: number;
  /**
   * Requests of the main stream in flight at the end of each 100 ms of the steady state, separated by spaces.
   */
  inFlight: string;
  /**
   * Response times of the main stream for each entry of timeline, in hundredths of a millisecond, separated by spaces.
   */
  responseTimes: string[];
  /**
   * One entry for each stream.
   */
  streams: ShardStream[];
  [k: string]: unknown;
}
export interface ShardStream {
  name: StreamName;
  /**
   * Number of responses with a session id.
   */
  echoed: number;
  response: ShardHistogram;
  service: ShardHistogram;
  lag: ShardHistogram;
  firstByte: ShardHistogram;
  /**
   * Requests, and those that failed, in blocks of 5 s.
   */
  failures: ShardBlock[];
  /**
   * Response times, and those that missed the target, in blocks of 5 s.
   */
  misses: ShardBlock[];
  /**
   * The same for each threshold on the response times of this stream.
   */
  breaches: ShardBlock[][];
  /**
   * Due times of the successful requests in microseconds since the steady state began, separated by spaces.
   */
  okDue: string;
  /**
   * Due times of the failed requests.
   */
  failedDue: string;
  [k: string]: unknown;
}
export interface MergedShard {
  /**
   * Number of the shard, from 1 to count.
   */
  index: number;
  /**
   * Number of shards of the run.
   */
  count: number;
  startedAt: string;
  endedAt: string;
  /**
   * When the steady state of the shard began. Absent if its run did not start.
   */
  windowStartedAt?: string;
  selfCheck: SelfCheck;
  machine?: GeneratorMachine;
  [k: string]: unknown;
}
export interface LoadTarget {
  /**
   * A target of the specification, such as chat-latency, or the text of a threshold, such as chat.p95<800ms.
   */
  id: string;
  /**
   * The metric of a threshold, such as chat.p95. Absent for the targets of the specification.
   */
  metric?: string;
  /**
   * The target as a sentence.
   */
  statement: string;
  /**
   * Section of the specification. Absent for thresholds.
   */
  section?: string;
  target: number;
  unit: 'ms' | 'requests/s' | '%' | 'connections';
  /**
   * The measured value; null if nothing was measured.
   */
  measured: number | null;
  /**
   * One-sided 95% bound on the side of the target: the worst value that is consistent with the samples. null if there are too few samples.
   */
  bound95: number | null;
  /**
   * Both one-sided 95% bounds, lower bound first.
   *
   * @minItems 2
   */
  range95: [number | null, number | null, ...(number | null)[]];
  samples: number;
  /**
   * The number of samples without a miss that proves the target. Present only if the run had too few.
   */
  samplesNeeded?: number;
  verdict: LoadVerdict;
  reason: string;
  [k: string]: unknown;
}
/**
 * The closed-loop warm-up. It is not judged.
 */
export interface WarmUp {
  /**
   * Number of connections.
   */
  connections: number;
  /**
   * Number of responses.
   */
  requests: number;
  /**
   * Number of errors and timeouts.
   */
  errors: number;
  /**
   * Median of the service time; null in a merged report.
   */
  p50Ms: number | null;
  [k: string]: unknown;
}
/**
 * How failures were distributed over time.
 */
export interface Outages {
  /**
   * Number of seconds in the steady state.
   */
  seconds: number;
  /**
   * Number of seconds without a failure.
   */
  cleanSeconds: number;
  /**
   * The longest period in milliseconds when every started request failed.
   */
  longestMs: number;
  /**
   * Number of uninterrupted sequences of failures.
   */
  incidents: number;
  [k: string]: unknown;
}
/**
 * Trend of the chat requests in flight over the last two thirds of the steady state (Theil-Sen estimator).
 */
export interface InFlightTrend {
  /**
   * Increase in requests per second.
   */
  perSecond: number;
  /**
   * One-sided 95% bounds of the increase, lower bound first.
   *
   * @minItems 2
   */
  range95: [number, number, ...number[]];
  /**
   * Requests in flight at the start of the steady state.
   */
  atStart: number;
  /**
   * Requests in flight at the end of the steady state.
   */
  atEnd: number;
  /**
   * Whether the increase is significant and above 1% of the offered rate.
   */
  rising: boolean;
  [k: string]: unknown;
}
export interface LoadSecond {
  /**
   * Seconds since the steady state began; negative during ramp-up.
   */
  second: number;
  phase: LoadPhase;
  /**
   * Number of requests that were due.
   */
  offered: number;
  /**
   * Number of requests that were sent.
   */
  sent: number;
  /**
   * Number of requests that ended, with or without success.
   */
  done: number;
  /**
   * Number of successful requests.
   */
  ok: number;
  /**
   * Maximum number of requests in flight. In a merged report, the sum of the maxima of the shards, which is an upper bound.
   */
  inFlight: number;
  /**
   * Median response time of the main stream for requests due in this second; null if none completed. Service times for the engine autocannon.
   */
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  errors: FaultCounts;
  /**
   * Number of response times in each class of heatBoundsMs.
   */
  heat: number[];
  [k: string]: unknown;
}
export interface CurvePoint {
  percentile: number;
  responseMs: number;
  serviceMs: number;
  [k: string]: unknown;
}
export interface FaultSample {
  kind: FaultKind;
  stream: string;
  /**
   * When the request ended, in milliseconds since the steady state began.
   */
  atMs: number;
  /**
   * The session_id of the request.
   */
  session?: string;
  /**
   * Trace id of the `traceparent` that the request carried.
   */
  traceId?: string;
  detail: string;
  [k: string]: unknown;
}
export interface SlowSample {
  stream: string;
  /**
   * When the request was due, in milliseconds since the steady state began.
   */
  atMs: number;
  /**
   * Time from the due time to the complete response.
   */
  responseMs: number;
  fault?: FaultKind;
  /**
   * The session_id of the request.
   */
  session?: string;
  /**
   * Trace id of the `traceparent` that the request carried.
   */
  traceId: string;
  [k: string]: unknown;
}
/**
 * The most concurrent calls that were sustained, found with --find-max and the profile voice.
 */
export interface MaxCalls {
  /**
   * The highest number of calls that met the targets; null if none did.
   */
  sustains: number | null;
  /**
   * The lowest number of calls that missed a target; null if all met them.
   */
  fails: number | null;
  /**
   * Whether this number of calls also met the targets for the whole confirmation run.
   */
  confirmed: boolean;
  summary: string;
  steps: CallStep[];
  [k: string]: unknown;
}
export interface CallStep {
  /**
   * Number of concurrent calls.
   */
  calls: number;
  durationMs: number;
  holds: boolean;
  /**
   * Calls that stayed connected with audio in both directions.
   */
  held: number;
  /**
   * 95th percentile of the network path latency over calls; null if it was not measured.
   */
  audioPathLatencyP95Ms: number | null;
  /**
   * 95th percentile of the response latency over turns; null if no turn got a response.
   */
  turnResponseP95Ms: number | null;
  turns: number;
  /**
   * Turns without an audible response within 10 s.
   */
  unansweredTurns: number;
  reason: string;
  [k: string]: unknown;
}
/**
 * The highest sustained rate, found with --find-max.
 */
export interface MaxRate {
  /**
   * Responses per second in a closed loop; determines where the search starts.
   */
  probePerSecond?: number;
  /**
   * The highest rate that met the targets; null if none did.
   */
  sustains: number | null;
  /**
   * The lowest rate that missed a target; null if all rates met them.
   */
  fails: number | null;
  /**
   * Whether the rate also met the targets for the whole confirmation run.
   */
  confirmed: boolean;
  summary: string;
  steps: RateStep[];
  [k: string]: unknown;
}
export interface RateStep {
  ratePerSecond: number;
  durationMs: number;
  holds: boolean;
  donePerSecond: number;
  p99Ms: number | null;
  /**
   * Fraction, 0 to 1.
   */
  failedShare: number;
  reason: string;
  [k: string]: unknown;
}
/**
 * This run compared with an earlier run.
 */
export interface LoadComparison {
  /**
   * When the earlier run started.
   */
  startedAt: string;
  /**
   * Settings that differ between the runs and make the comparison less meaningful.
   */
  differences: string[];
  rows: ComparedTarget[];
  [k: string]: unknown;
}
export interface ComparedTarget {
  id: string;
  unit: string;
  before: number | null;
  now: number | null;
  change: Change;
  verdictBefore: LoadVerdict;
  verdictNow: LoadVerdict;
  [k: string]: unknown;
}
/**
 * Results of the calls. readyMs: from start_call to call_ready. setupMs: from the due time of a call until media could flow. firstPacketMs: from the due time until the first audio packet. audioPathLatencyMs: network path latency of each call (half its p95 round trip, one packet, and its jitter buffer; without buffers inside the agent). roundTripMs: all STUN round trips on the media path. jitterMs: p99 delay of the packets of each call relative to their neighbors. turnResponseMs: response latency of all turns, from the end of our speech until the agent was audible; negative if it spoke earlier.
 */
export interface VoiceLoad {
  /**
   * Number of calls to place.
   */
  calls: number;
  /**
   * Number of calls with a connected media path.
   */
  connected: number;
  /**
   * Number of calls that stayed connected during the whole steady state and received audio in it.
   */
  held: number;
  /**
   * Number of calls that were connected and then lost.
   */
  lost: number;
  errors: CallFaultCounts;
  latencyVerdicts: CallLatencyVerdicts;
  readyMs: VoiceSummary;
  setupMs: VoiceSummary;
  firstPacketMs: VoiceSummary;
  audioPathLatencyMs: VoiceSummary;
  roundTripMs: VoiceSummary;
  jitterMs: VoiceSummary;
  turnResponseMs: VoiceSummary;
  /**
   * Number of our turns that ended early enough in the steady state to get a response in it.
   */
  turns: number;
  /**
   * Number of these turns without an audible response.
   */
  unansweredTurns: number;
  packets: CallPackets;
  callers: CallerCosts;
  /**
   * One entry per call, in the order placed.
   */
  perCall: CallVerdict[];
  /**
   * The first error of each kind.
   */
  faultSamples: CallFaultSample[];
  /**
   * One entry per second, from the first call to the end of the last one.
   */
  timeline: VoiceSecond[];
  [k: string]: unknown;
}
/**
 * Number of held calls by the verdict on their audio latency.
 */
export interface CallLatencyVerdicts {
  /**
   * Below the target, including buffers inside the agent.
   */
  met: number;
  /**
   * The network path latency alone is at or above the target.
   */
  missed: number;
  /**
   * The measurements neither show nor exclude that the target is met.
   */
  notProven: number;
  [k: string]: unknown;
}
/**
 * Audio packets in the steady state.
 */
export interface CallPackets {
  /**
   * Number of 20 ms frames sent.
   */
  sent: number;
  /**
   * Number of packets received, without duplicates.
   */
  received: number;
  /**
   * Number of packets that never arrived, between the first and the last packet of a call.
   */
  lost: number;
  /**
   * Number of packets that arrived after a packet sent later.
   */
  reordered: number;
  /**
   * Number of packets whose distance to the previous packet grew by more than 40 ms on the way.
   */
  gaps: number;
  /**
   * The largest such growth in milliseconds.
   */
  longestGapMs: number;
  [k: string]: unknown;
}
/**
 * The processes that placed the calls; each figure is the worst of all processes.
 */
export interface CallerCosts {
  /**
   * Number of processes.
   */
  processes: number;
  /**
   * Number of processes that ended early.
   */
  ended: number;
  /**
   * Percentage of one core.
   */
  cpuPercent: number;
  /**
   * Event loop delay; received packets are seen this late.
   */
  loopLateP99Ms: number;
  /**
   * Delay with which frames were sent.
   */
  sendLateP99Ms: number;
  sendLateMaxMs: number;
  [k: string]: unknown;
}
export interface CallVerdict {
  /**
   * Number of the call, starting at 0.
   */
  call: number;
  verdict: LoadVerdict;
  reason: string;
  fault?: CallFaultKind;
  setupMs: number | null;
  audioPathLatencyMs: number | null;
  /**
   * Median over the turns of the call.
   */
  turnResponseMs: number | null;
  /**
   * Number of packets that never arrived.
   */
  lostPackets: number;
  [k: string]: unknown;
}
export interface CallFaultSample {
  kind: CallFaultKind;
  /**
   * Number of the call, starting at 0.
   */
  call: number;
  /**
   * Milliseconds since the steady state began.
   */
  atMs: number;
  session: string;
  /**
   * Trace id of the `traceparent` that the request of the WebSocket carried.
   */
  traceId?: string;
  detail: string;
  [k: string]: unknown;
}
export interface VoiceSecond {
  /**
   * Seconds since the steady state began; negative during ramp-up.
   */
  second: number;
  /**
   * Number of connected calls at the end of the second.
   */
  up: number;
  /**
   * Number of frames sent.
   */
  sent: number;
  /**
   * Number of packets received.
   */
  received: number;
  /**
   * Number of gaps, as defined in packets.
   */
  gaps: number;
  sendLateMaxMs: number;
  [k: string]: unknown;
}
/**
 * Summary of the eval outcomes of a session. It always covers the whole session.
 */
export interface OutcomeSummary {
  /**
   * Number of evals that passed or failed. An eval that errored counts as neither.
   */
  total_evaluations: number;
  passed_count: number;
  failed_count: number;
  /**
   * Fraction, 0 to 1; 0 if there are no outcomes.
   */
  pass_rate: number;
  [k: string]: unknown;
}
/**
 * A persona: who a simulated user is. A scenario says what the user wants.
 */
export interface Persona {
  /**
   * Id that scenarios use to refer to the persona.
   */
  id: string;
  /**
   * Shown as persona in results (spec 2.4), and sent as metadata.persona.
   */
  name: string;
  /**
   * Who the user is and how the user speaks; instructions for the language model that plays the user.
   */
  characteristics?: string;
  /**
   * Language tag, e.g. en or de-CH. Default: en.
   */
  language?: string;
  /**
   * How much the user says. Default: standard.
   */
  verbosity?: 'minimal' | 'standard' | 'chatty';
  /**
   * Number of consecutive unhelpful replies after which the user gives up (end reason user_stop): replies that do not let a user of mode graph continue, or that repeat the reply before word for word to a user of mode llm. A user of mode scripted says all its lines. Default: 3.
   */
  patience_turns?: number;
  voice?: PersonaVoice;
  /**
   * Tags for selecting personas.
   *
   * @maxItems 50
   */
  tags?: string[];
}
/**
 * How the user speaks and sounds in a call. It has no effect by chat. Every choice depends only on the random seed.
 */
export interface PersonaVoice {
  /**
   * How often the user interrupts the agent's reply by repeating its line: never, about 1 reply in 5, or about every other one. A reply that the scenario interrupts is interrupted only once. Default: never.
   */
  interruptions?: 'never' | 'rare' | 'often';
  /**
   * How often the user hesitates for 300 to 1500 ms in the middle of a line of at least 4 words: never, in about 1 line in 3, or in every line. Default: none.
   */
  pauses?: 'none' | 'some' | 'many';
  /**
   * Voice that speaks. Of the built-in synthesizer: awb, kal, rms, or slt. Of a speech endpoint: any that it knows. Default: slt, or SANDBOX_KIT_SPEECH_VOICE.
   */
  name?: string;
  /**
   * Speed of the speech relative to the usual one. Default: 1.
   */
  speed?: number;
  noise?: CallNoise;
  network?: CallNetwork;
}
/**
 * Noise around the user, mixed into everything that the user sends.
 */
export interface CallNoise {
  /**
   * quiet: no noise. cafe: other people talk. line_hum: the hum of a bad cable.
   */
  kind: 'quiet' | 'street' | 'cafe' | 'line_hum';
  /**
   * How much louder the speech of the user is than the noise, in decibels (signal-to-noise ratio); not with kind quiet. Default: 20.
   */
  snr_db?: number;
}
/**
 * The network from the user to the agent. Packets from the agent are not changed.
 */
export interface CallNetwork {
  /**
   * Percentage of packets that are lost. Default: 0.
   */
  loss_pct?: number;
  /**
   * How many packets are lost in a row on average (Gilbert-Elliott model); only with loss_pct. Default: each packet is lost independently.
   */
  burst?: number;
  /**
   * Each packet is late by 0 to this many milliseconds, evenly distributed; above 20, packets overtake each other. Default: 0.
   */
  jitter_ms?: number;
  /**
   * Kilobits per second, including the headers of packets. Packets wait in a queue of at most 250 ms; further ones are lost. Default: unlimited.
   */
  bandwidth_kbps?: number;
}
/**
 * A page of sessions with their outcomes, newest first.
 */
export interface ProductionSessionPage {
  items: ProductionSession[];
  /**
   * Number of sessions on all pages that match the filters.
   */
  total: number;
  skip: number;
  limit: number;
  [k: string]: unknown;
}
/**
 * An item of GET /api/prod-evaluations/sessions/. Has no agent, scenario or persona: the keys are absent, not null.
 */
export interface ProductionSession {
  /**
   * Deep link {app_url}/production-eval/ID?sessionId=ID.
   */
  url: string;
  /**
   * Name of the evaluation run.
   */
  run: string;
  /**
   * The caller's own id: the id of the transcript or the gen_ai.conversation.id.
   */
  source_session_id: string;
  /**
   * Session status, e.g. completed.
   */
  status: string;
  started_at: string;
  ended_at: string;
  outcome_summary: OutcomeSummary;
  eval_outcomes: EvalOutcome[];
  agent?: never;
  scenario?: never;
  persona?: never;
  /**
   * Only with include_traces=true.
   */
  traces?: ProductionTurn[];
  [k: string]: unknown;
}
export interface ProductionTurn {
  session_sequence: number;
  user_input: string;
  agent_response: string;
  [k: string]: unknown;
}
/**
 * Whether an agent is ready to onboard, and what shows it.
 */
export interface ReadinessReport {
  agent: ReadinessAgent;
  /**
   * ready: every part passed. not_ready: a part failed. not_judged: evidence is missing.
   */
  readiness: 'ready' | 'not_ready' | 'not_judged';
  /**
   * The readiness with its reasons.
   */
  sentence: string;
  /**
   * When the oldest evidence ended (ISO 8601); null without evidence.
   */
  as_of: string | null;
  /**
   * Connection, conformance, load, and simulations.
   */
  parts: ReadinessPartReport[];
  [k: string]: unknown;
}
export interface ReadinessAgent {
  id: string;
  name: string;
  /**
   * Base URL of its sandbox.
   */
  url: string;
  [k: string]: unknown;
}
export interface ReadinessPartReport {
  id: 'connection' | 'check' | 'load' | 'simulations';
  name: string;
  /**
   * warn: evidence is missing, or proves nothing.
   */
  standing: 'pass' | 'fail' | 'warn';
  /**
   * The result in a few words.
   */
  verdict: string;
  detail: string;
  /**
   * When the run that shows it ended (ISO 8601); of simulations, the oldest one that counts.
   */
  ended_at?: string;
  /**
   * Version of the kit that ran it.
   */
  kit_version?: string;
  /**
   * The versions of the agent that were measured, as GET /health reported them. Absent if none did.
   */
  agent_versions?: string[];
  /**
   * Why the evidence says nothing about the agent as it is now: its version, its key, or an address has changed. Absent if it does.
   */
  outdated?: string;
  newest_attempt?: ReadinessAttempt;
  /**
   * The requirement set of a check.
   */
  requirement_set?: string;
  /**
   * The requirements of a check, by area.
   */
  areas?: ReadinessArea[];
  /**
   * The targets of a load test.
   */
  targets?: ReadinessTarget[];
  /**
   * The newest result of each scenario.
   */
  scenarios?: ReadinessScenario[];
  /**
   * How the agent takes turns in the calls of these scenarios, as facts for people. Absent without a call. At most 5 sessions of each scenario are read.
   */
  turn_taking?: ReadinessFact[];
  /**
   * Causes of failures in a check, the one that clears most first: at most ten.
   */
  fix_first?: string[];
  /**
   * What to do about a part that did not pass.
   */
  next_step?: string;
  [k: string]: unknown;
}
/**
 * A later run that judged nothing, or less than the earlier one proved about the same version, so that the earlier one counts.
 */
export interface ReadinessAttempt {
  /**
   * When it ended (ISO 8601).
   */
  ended_at: string;
  /**
   * Its result in a few words.
   */
  verdict?: string;
  /**
   * Why it does not count.
   */
  detail: string;
  [k: string]: unknown;
}
export interface ReadinessArea {
  area: string;
  passed: number;
  failed: number;
  warned: number;
  not_judged: number;
  [k: string]: unknown;
}
export interface ReadinessTarget {
  statement: string;
  verdict: string;
  target: number;
  measured: number | null;
  unit: string;
  /**
   * What was measured, and what it shows.
   */
  reason?: string;
  /**
   * The newest load tests of this URL that measured the target, oldest first: at most 20. Absent if there are fewer than two.
   */
  history?: ReadinessMeasurement[];
  [k: string]: unknown;
}
export interface ReadinessMeasurement {
  /**
   * When the load test ended (ISO 8601).
   */
  ended_at: string;
  measured: number;
  verdict: string;
  [k: string]: unknown;
}
export interface ReadinessScenario {
  scenario_id: string;
  /**
   * The simulation of the result.
   */
  run_id: string;
  verdict: 'passed' | 'failed' | 'undecided';
  /**
   * Sessions that passed.
   */
  passed: number;
  /**
   * Sessions of the scenario.
   */
  samples: number;
  /**
   * The most frequent reason why sessions did not pass. Absent if all passed, or if no session has one. At most 20 scenarios and 20 sessions of each are read.
   */
  reason?: string;
  [k: string]: unknown;
}
export interface ReadinessFact {
  name: string;
  value: string;
  [k: string]: unknown;
}
export interface ResentEval {
  id: string;
  name: string;
  /**
   * Whether its failure fails the session.
   */
  required: boolean;
  verdict: ResentEvalVerdict;
  /**
   * What the eval looked for and found, or why it is not judged.
   */
  reason: string;
  /**
   * The other turn at which it failed, if it is one turn.
   */
  turn?: number;
  [k: string]: unknown;
}
export interface SideRequest {
  /**
   * Number of the exchange in the run that it repeats.
   */
  exchange?: number;
  request: string;
  outcome: string;
  purpose: string;
  [k: string]: unknown;
}
/**
 * The result of sending one request of an earlier run again, alone. Later versions may add keys; no key is renamed or removed within a major version.
 */
export interface ResendReport {
  verdict: ResendVerdict;
  exitCode: 0 | 1 | 3;
  kitVersion: string;
  /**
   * Base URL of the request.
   */
  target: string;
  /**
   * The verdict and its reason.
   */
  sentence: string;
  before?: ExchangeRecord1;
  /**
   * Requests that were sent before, because the request depends on them, in order.
   */
  prepared: SideRequest[];
  exchange?: ExchangeRecord2;
  /**
   * The other requests that a broken requirement is about, sent again in the recorded relation: at the same moment, or one after the other.
   */
  together?: SideRequest[];
  /**
   * Requests that were sent afterward to delete what the request and its preparation created.
   */
  cleanedUp: SideRequest[];
  /**
   * Whether GET /health got a response afterward. Present if the request got none.
   */
  stillResponds?: boolean;
  /**
   * The requirements that judged the response; broken ones first.
   */
  requirements: ResentRequirement[];
  /**
   * For a turn of a simulation: the evals that failed or errored in the run, scored with the new reply.
   */
  evals?: ResentEval[];
  [k: string]: unknown;
}
/**
 * One HTTP request of a check run with its response or failure, or one call: the WebSocket upgrade and everything that followed. Secrets are redacted.
 */
export interface ExchangeRecord1 {
  record: 'exchange';
  /**
   * Number of the exchange in the run, starting at 1.
   */
  id: number;
  /**
   * Id of the probe that sent the request; client for a request that a client sent to the service.
   */
  probe: string;
  /**
   * Name of the request within the probe.
   */
  step: string;
  endpoint: Endpoint;
  intent: Intent;
  /**
   * Id of the control exchange. This exchange differs from it in one edit.
   */
  control?: number;
  /**
   * Id of the failed exchange whose request was sent again here, while no other request was in flight. Absent if the request was sent for the first time or again after a 429.
   */
  repeats?: number;
  /**
   * What is special about a generated request, such as "two user messages in a row". Empty for the plain request that it differs from; absent if the request is not generated.
   */
  properties?: string[];
  /**
   * Name of the owner whose key the request has, of those that a run creates through the control API of a service. Absent if the request has another key, or none.
   */
  owner?: string;
  /**
   * Present if the request used the connection that all such requests of the run share.
   */
  connection?: 'keep-alive';
  request: RecordedRequest;
  response?: RecordedResponse;
  failure?: ExchangeFailure;
  call?: RecordedCall;
  /**
   * Milliseconds since the run began.
   */
  startedMs: number;
  /**
   * Milliseconds since the run began.
   */
  endedMs: number;
  /**
   * Milliseconds by which the kit itself was late during the exchange, because its process or the machine was busy. Absent if it was not.
   */
  kitLateMs?: number;
}
/**
 * One HTTP request of a check run with its response or failure, or one call: the WebSocket upgrade and everything that followed. Secrets are redacted.
 */
export interface ExchangeRecord2 {
  record: 'exchange';
  /**
   * Number of the exchange in the run, starting at 1.
   */
  id: number;
  /**
   * Id of the probe that sent the request; client for a request that a client sent to the service.
   */
  probe: string;
  /**
   * Name of the request within the probe.
   */
  step: string;
  endpoint: Endpoint;
  intent: Intent;
  /**
   * Id of the control exchange. This exchange differs from it in one edit.
   */
  control?: number;
  /**
   * Id of the failed exchange whose request was sent again here, while no other request was in flight. Absent if the request was sent for the first time or again after a 429.
   */
  repeats?: number;
  /**
   * What is special about a generated request, such as "two user messages in a row". Empty for the plain request that it differs from; absent if the request is not generated.
   */
  properties?: string[];
  /**
   * Name of the owner whose key the request has, of those that a run creates through the control API of a service. Absent if the request has another key, or none.
   */
  owner?: string;
  /**
   * Present if the request used the connection that all such requests of the run share.
   */
  connection?: 'keep-alive';
  request: RecordedRequest;
  response?: RecordedResponse;
  failure?: ExchangeFailure;
  call?: RecordedCall;
  /**
   * Milliseconds since the run began.
   */
  startedMs: number;
  /**
   * Milliseconds since the run began.
   */
  endedMs: number;
  /**
   * Milliseconds by which the kit itself was late during the exchange, because its process or the machine was busy. Absent if it was not.
   */
  kitLateMs?: number;
}
export interface ResentRequirement {
  id: string;
  level: string;
  section: string;
  rule: string;
  verdict: ResentVerdict;
  /**
   * Whether the exchange broke the requirement in the run.
   */
  wasBroken: boolean;
  /**
   * JSON pointer into the response body.
   */
  pointer?: string;
  expected?: string;
  received?: string;
  hint?: string;
  reason?: string;
  [k: string]: unknown;
}
/**
 * Deletes everything of an owner except its keys, then optionally inserts the seed data again.
 */
export interface ResetRequest {
  to: 'seed' | 'empty';
}
/**
 * The sandbox's response when it refuses a request or fails. The interface defines these pairs of code and type: bad_request and invalid_request_error (400), rate_limit_exceeded and rate_limit_error (429), server_error and internal_error (500), user_exists and duplicate_user_error, health_check_failed and internal_error (500).
 */
export interface SandboxError {
  error: SandboxErrorDetail;
  [k: string]: unknown;
}
export interface SandboxErrorDetail {
  /**
   * Message for people.
   */
  message: string;
  /**
   * Category of the error.
   */
  type: string;
  /**
   * Code of the error.
   */
  code: string;
  [k: string]: unknown;
}
/**
 * The user speaks while the agent replies to the line, after_ms or when is true. Only by voice. It is a separate turn, which belongs to the line whose reply it interrupts. If the agent finishes its reply first, there is no interruption, and a note says so.
 */
export interface Interruption {
  /**
   * Milliseconds after the agent began to reply to the line.
   */
  after_ms?: number;
  when?: ReplyCondition;
  /**
   * What the user says.
   */
  say: string;
}
/**
 * True when every listed condition is true for the agent's last reply.
 */
export interface ReplyCondition {
  /**
   * The reply contains this text (case-insensitive).
   */
  contains?: string;
  /**
   * The reply contains one of these texts (case-insensitive).
   *
   * @minItems 1
   * @maxItems 100
   */
  contains_any?: [string, ...string[]];
  /**
   * The reply does not contain this text (case-insensitive).
   */
  lacks?: string;
  /**
   * A JavaScript regular expression that matches part of the reply (case-insensitive).
   */
  matches?: string;
  /**
   * Name of a tool that the agent called in this reply.
   */
  tool_called?: string;
  /**
   * The reply belongs to this turn, starting at 1; interruptions are not counted.
   */
  turn?: number;
}
/**
 * A scenario: what a simulated user wants and says, and how the conversation is scored. A persona says who the user is.
 */
export interface Scenario {
  /**
   * Sent as metadata.scenario_id.
   */
  id: string;
  /**
   * Shown as scenario in results (spec 2.4).
   */
  name: string;
  /**
   * Free text for selecting and grouping, e.g. happy_path, edge_case, adversarial. Default: general.
   */
  category?: string;
  /**
   * Tags for selecting scenarios.
   *
   * @maxItems 50
   */
  tags?: string[];
  /**
   * How the user talks to the sandbox. Default: chat.
   */
  channel?: 'chat' | 'voice';
  /**
   * Who the user is: the id of a persona or an inline persona. Default: a polite customer.
   */
  persona?: string | Persona;
  /**
   * Messages before the user's first line, oldest first; sent in every chat request (spec 2.7).
   *
   * @maxItems 1000
   */
  initial_messages?: ScenarioMessage[];
  /**
   * Random seed of the scenario. Default: the random seed of the run.
   */
  seed?: string;
  /**
   * Number of sessions per run. Default: 1.
   */
  samples?: number;
  /**
   * Fraction of the samples, 0 to 1, that must pass. Default: 1.
   */
  pass_rate?: number;
  /**
   * The evals that score each session: ids or inline evals.
   *
   * @maxItems 100
   */
  evals?: (string | EvalDefinition)[];
  user: ScenarioUser;
  /**
   * Lines that another user says in a separate session before this session starts. Both sessions stay open until the end. Only this session is scored: an agent that mixes sessions up tells it what the other user said.
   *
   * @minItems 1
   * @maxItems 100
   */
  other_session?: [string, ...string[]];
  metadata?: ScenarioContext;
  profile?: ScenarioProfile;
  /**
   * Sent as metadata.preferences of POST /users (spec 2.9).
   */
  preferences?: {
    [k: string]: unknown;
  };
  /**
   * Sent as metadata.history of POST /users (spec 2.9).
   */
  history?: {
    [k: string]: unknown;
  };
  limits?: ScenarioLimits;
}
export interface ScenarioMessage {
  /**
   * Author of the message.
   */
  role: 'system' | 'user' | 'assistant';
  /**
   * Text of the message.
   */
  content: string;
}
/**
 * What the simulated user wants and says.
 */
export interface ScenarioUser {
  /**
   * scripted: says the opening and then each step in order, regardless of the replies. graph: says the opening, then chooses reactions, facts, and steps by the agent's replies; deterministic. llm: a language model plays the user. Default: graph.
   */
  mode?: 'scripted' | 'graph' | 'llm';
  /**
   * The user's first line. Required except in mode llm.
   */
  opening?: string;
  opening_delivery?: OpeningDelivery;
  /**
   * What the user wants. Required in mode llm; shown with the results in every mode.
   */
  goal?: string;
  /**
   * Whether the user opens the conversation. If false, the agent speaks first and opening responds to it. Default: true.
   */
  speaks_first?: boolean;
  /**
   * Only by voice, and with speaks_first: false. If the agent says nothing for this many seconds after the call is connected, the user says the opening, and the missing greeting counts as a missed turn. Default: the session ends with a timeout.
   */
  hello_after_s?: number;
  /**
   * Facts that the user states only when asked.
   *
   * @maxItems 100
   */
  facts?: ScenarioFact[];
  /**
   * The user's lines in order. After the last one the user is done (end reason goal_achieved).
   *
   * @maxItems 1000
   */
  steps?: ScenarioStep[];
  /**
   * Lines of the user in reaction to certain replies, before the steps continue; the first matching reaction is used.
   *
   * @maxItems 100
   */
  reactions?: ScenarioReaction[];
  /**
   * The user is done (end reason goal_achieved) when a reply meets one of these conditions.
   *
   * @maxItems 100
   */
  stop_when?: ReplyCondition[];
}
/**
 * How the user says the opening in a call. Only by voice.
 */
export interface OpeningDelivery {
  interrupt?: Interruption;
  pause_ms?: PauseInLine;
  backchannel?: Backchannel;
  silence_s?: Silence;
}
export interface ScenarioFact {
  /**
   * Name of the fact, e.g. order number. The agent asks for it with these words (case-insensitive) unless asked_by lists others.
   */
  name: string;
  /**
   * Value that the user states when the agent asks.
   */
  value: string;
  /**
   * Phrases that the agent uses to ask for the fact (case-insensitive); one of them is enough.
   *
   * @minItems 1
   * @maxItems 100
   */
  asked_by?: [string, ...string[]];
  /**
   * The user's line; {value} is replaced with the value. Default: the value alone.
   */
  say?: string;
}
export interface ScenarioStep {
  /**
   * Id of the step, for use in next.
   */
  id?: string;
  when?: ReplyCondition;
  /**
   * The user's line, said when the condition in when is true. Without when, it is said immediately.
   */
  say: string;
  /**
   * The user's line while when is not true. Default: the user repeats the previous line.
   */
  otherwise?: string;
  /**
   * Id of the next step. Default: the step below.
   */
  next?: string;
  /**
   * Why the user says the line; shown as user_reason.
   */
  reason?: string;
  interrupt?: Interruption;
  pause_ms?: PauseInLine;
  backchannel?: Backchannel;
  silence_s?: Silence;
}
export interface ScenarioReaction {
  when: ReplyCondition;
  /**
   * The user's line.
   */
  say: string;
  /**
   * How often the reaction may be used in a session. Default: 1.
   */
  times?: number;
  /**
   * Whether the user ends the conversation with this line (end reason user_stop). Default: false.
   */
  stop?: boolean;
  /**
   * Why the user says the line; shown as user_reason.
   */
  reason?: string;
}
/**
 * Sent unchanged as metadata of every chat request (spec 2.7), in addition to scenario_id and persona.
 */
export interface ScenarioContext {
  /**
   * e.g. evening
   */
  time_of_day?: string;
  [k: string]: unknown;
}
/**
 * Sent as profile of POST /users (spec 2.9).
 */
export interface ScenarioProfile {
  /**
   * Full name.
   */
  name?: string;
  /**
   * e.g. ada@example.com
   */
  email?: string;
  /**
   * e.g. gold
   */
  tier?: string;
  /**
   * e.g. Zurich
   */
  location?: string;
}
/**
 * Limits at which a session ends.
 */
export interface ScenarioLimits {
  /**
   * Maximum number of turns; a turn is a line of the user and the reply. An interruption is a turn too, but the user interrupts only if enough turns are left for its other lines. Default: 10.
   */
  max_turns?: number;
  /**
   * Maximum milliseconds for one reply. By voice, the reply includes the agent's speech until it ends. Default: 30000, by voice 60000.
   */
  turn_timeout_ms?: number;
  /**
   * Maximum milliseconds for the whole session. Default: 600000.
   */
  max_duration_ms?: number;
}
export interface SeedTurn {
  user_input: string;
  /**
   * Why the simulated user said the line.
   */
  user_reason?: string;
  agent_response: string;
  /**
   * Evaluation hints of the turn (spec 2.8); evals of kind evaluation_metadata read them.
   */
  evaluation_metadata?: {
    [k: string]: unknown;
  };
}
export interface SeedOutcome {
  /**
   * Id of an eval of the document or of the owner; provides name, category, and type.
   */
  eval?: string;
  /**
   * Required if eval is absent.
   */
  eval_name?: string;
  /**
   * Default: general.
   */
  eval_category?: string;
  /**
   * Default: session_level.
   */
  eval_type?: 'session_level' | 'turn_level';
  outcome: 'pass' | 'fail' | 'error';
  /**
   * If false, a failure does not fail the session. Default: the value of the eval, otherwise true.
   */
  required?: boolean;
  reasoning?: string;
}
/**
 * Seed data of a service. Everything in it belongs to one owner, except keys that name another owner.
 */
export interface SeedDocument {
  /**
   * @maxItems 1000
   */
  keys?: KeyGrant[];
  /**
   * Agents that simulations refer to. An agent without url is only a name and is not stored.
   *
   * @maxItems 1000
   */
  agents?: SeedAgent[];
  /**
   * @maxItems 1000
   */
  evals?: EvalDefinition[];
  settings?: LiveSettings;
  /**
   * Personas of simulated users.
   *
   * @maxItems 1000
   */
  personas?: Persona[];
  /**
   * Scenarios of simulated users. They may refer to evals and personas of the document or of the owner.
   *
   * @maxItems 1000
   */
  scenarios?: Scenario[];
  /**
   * Transcripts that are scored immediately.
   *
   * @maxItems 100000
   */
  transcripts?: TranscriptUpload[];
  /**
   * @maxItems 10000
   */
  simulations?: SeedSimulation[];
  /**
   * Runs of production evaluation.
   *
   * @maxItems 10000
   */
  runs?: SeedRun[];
}
export interface SeedAgent {
  id?: string;
  name: string;
  url?: string;
  voice_url?: string;
  /**
   * The sandbox's bearer key, visible ASCII characters. Stored and never returned.
   */
  api_key?: string;
}
/**
 * A finished conversation, uploaded as text and scored immediately.
 */
export interface TranscriptUpload {
  session_id: string;
  started_at?: string;
  /**
   * @minItems 1
   * @maxItems 10000
   */
  turns: [UploadedTurn, ...UploadedTurn[]];
  /**
   * Metadata of the conversation; evals of kind json_path read it at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  run?: string;
  /**
   * Ids of evals. Default: the evals of the live settings.
   */
  evals?: string[];
}
export interface UploadedTurn {
  user_input: string;
  agent_response: string;
  /**
   * Evaluation hints of the turn (spec 2.8); evals of kind evaluation_metadata read them.
   */
  evaluation_metadata?: {
    [k: string]: unknown;
  };
}
export interface SeedSimulation {
  /**
   * Default: derived from the name.
   */
  id?: string;
  name: string;
  /**
   * Name or id of an agent in the document, or any other name.
   */
  agent: string;
  /**
   * Whether the simulation is deleted, so that the url of its sessions is null.
   */
  deleted?: boolean;
  /**
   * @maxItems 100000
   */
  sessions?: SeedSimulationSession[];
}
export interface SeedSimulationSession {
  scenario: string;
  persona: string;
  /**
   * Default: derived from the simulation and the position in it.
   */
  id?: string;
  /**
   * Default: completed.
   */
  status?: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'canceled';
  started_at: string;
  /**
   * Default: started_at.
   */
  ended_at?: string;
  end_reason?: string;
  /**
   * Metadata of the session; evals of kind json_path read it at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Ids of evals that score the session in addition to the given outcomes.
   *
   * @maxItems 1000
   */
  evals?: string[];
  /**
   * @maxItems 10000
   */
  turns?: SeedTurn[];
  /**
   * @maxItems 1000
   */
  outcomes?: SeedOutcome[];
}
export interface SeedRun {
  name: string;
  /**
   * @maxItems 100000
   */
  sessions: SeedProductionSession[];
}
export interface SeedProductionSession {
  source_session_id: string;
  /**
   * Default: derived from the run and source_session_id.
   */
  id?: string;
  /**
   * Default: completed.
   */
  status?: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'canceled';
  started_at: string;
  /**
   * Default: started_at.
   */
  ended_at?: string;
  end_reason?: string;
  /**
   * Metadata of the session; evals of kind json_path read it at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Ids of evals that score the session in addition to the given outcomes.
   *
   * @maxItems 1000
   */
  evals?: string[];
  /**
   * @maxItems 10000
   */
  turns?: SeedTurn[];
  /**
   * @maxItems 1000
   */
  outcomes?: SeedOutcome[];
}
/**
 * The service's response when it refuses a request of area A.
 */
export interface ServiceError {
  /**
   * What happened, what was expected, and what to do.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * A fault that the service injects on request, so that a client can test its retries.
 */
export interface ServiceFault {
  /**
   * Status 429, 500, or 503, or the correct response after delay_ms.
   */
  kind: 'rate_limit' | 'server_error' | 'unavailable' | 'slow';
  /**
   * The route that it affects. Default: all.
   */
  route?: 'traces' | 'end' | 'results';
  /**
   * Milliseconds by which a slow response is delayed. Default: 1000.
   */
  delay_ms?: number;
  /**
   * Seconds in the Retry-After header of rate_limit and unavailable. Default: 1.
   */
  retry_after_s?: number;
  /**
   * Number of requests that the fault affects. Default: all.
   */
  times?: number;
  /**
   * Milliseconds after which the fault ends.
   */
  ttl_ms?: number;
}
/**
 * Verdict on a session with its outcomes, including evals that errored, which the interface does not show.
 */
export interface SessionVerdict {
  /**
   * The sessionId in the deep link.
   */
  id: string;
  kind: 'simulation' | 'production';
  status: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'canceled';
  /**
   * failed: a required eval failed. passed: the session is completed, at least one eval passed, and no required eval failed or errored. undecided: everything else.
   */
  verdict: 'passed' | 'failed' | 'undecided';
  /**
   * URL of the session page; absent if the simulation was deleted.
   */
  url?: string;
  /**
   * The caller's own id of the conversation. Only for production sessions.
   */
  source_session_id?: string;
  end_reason?: string;
  outcomes: VerdictOutcome[];
  /**
   * Details of a simulated session: scenario_id, channel, sample, user_id, error, review (whether the user followed its scenario), notes, and the turn_taking and heard of a call.
   */
  simulated?: {
    [k: string]: unknown;
  };
}
export interface VerdictOutcome {
  /**
   * Id of the eval.
   */
  eval: string;
  eval_name: string;
  eval_category: string;
  eval_type: string;
  outcome: 'pass' | 'fail' | 'error';
  /**
   * The setting of the eval when it was queued. If false, a failure does not fail the session.
   */
  required: boolean;
  reasoning: string;
  /**
   * The places in the transcript that decided the outcome. Absent if the eval has none, for example because a text is missing.
   */
  evidence?: OutcomeEvidence[];
}
export interface OutcomeEvidence {
  /**
   * The turn, starting with 1.
   */
  turn: number;
  /**
   * The part of the turn. turn: the whole turn.
   */
  part: 'turn' | 'user' | 'agent' | 'tool_call' | 'latency' | 'evaluation_metadata';
  /**
   * Index of the tool call in the turn, starting with 0.
   */
  call?: number;
  /**
   * Start of the text in the line of the user or the agent, in UTF-16 code units.
   */
  start?: number;
  /**
   * End of the text, in UTF-16 code units.
   */
  end?: number;
}
export interface SimulatedTurnReport {
  session_sequence: number;
  /**
   * The line of the scenario that the turn belongs to, as in the parameter turn of evals: 1 is the opening, 2 the first step, and so on; if the agent speaks first, 1 is its greeting and 2 the opening. Facts, reactions, repeated lines, and interruptions belong to the line before them. For a user of mode llm, each line of the user counts.
   */
  scenario_line?: number;
  /**
   * Present if the line of the user interrupts the reply of the turn before.
   */
  interrupts?: true;
  user_input: string;
  /**
   * Why the simulated user said the line.
   */
  user_reason: string;
  agent_response: string;
  tool_calls?: SimulatedToolCall[];
}
export interface SimulatedToolCall {
  name: string;
  arguments?: unknown;
  result?: unknown;
  [k: string]: unknown;
}
/**
 * How the two sides of a call took turns, measured from the audio of both. Times are in milliseconds; at_ms counts from the start of the recording.
 */
export interface TurnTaking {
  response_ms: ResponseTimes;
  /**
   * The same for each turn with such a reply.
   */
  responses: MeasuredResponse[];
  /**
   * Each time the user spoke while the agent spoke.
   */
  interruptions: MeasuredInterruption[];
  /**
   * Each backchannel: something short that the user said to show that it listens.
   */
  backchannels: MeasuredBackchannel[];
  /**
   * Time when both sides spoke, without backchannels.
   */
  overlap_ms: number;
  /**
   * How often the agent started to speak within a line of the user, outside of its pauses.
   */
  agent_interruptions: number;
  /**
   * How often the agent started to speak in a pause within a line, or up to 500 ms after it.
   */
  false_endpoints: number;
  /**
   * Lines of the user after which the agent said nothing, and greetings that the agent did not say.
   */
  missed_turns: number;
  /**
   * All silences over 2000 ms between the first and the last sound of the call, each in full. Time when the user was not ready to speak does not count.
   */
  dead_air_ms: number;
  /**
   * Interruptions of more than 60 ms in the agent's audio while it spoke: lost or late packets.
   */
  gaps: number;
  /**
   * Where these things happened, in order.
   *
   * @maxItems 1000
   */
  events: TurnTakingEvent[];
  not_proven?: UnprovenTurnTaking;
}
export interface MeasuredResponse {
  turn: number;
  response_ms: number;
}
export interface MeasuredInterruption {
  /**
   * The turn of the interruption.
   */
  turn: number;
  /**
   * The first sound of the user.
   */
  at_ms: number;
  /**
   * From the first sound of the user to the last sound of the agent; null if the agent went on until more than 1000 ms after the user had finished.
   */
  yield_ms: number | null;
  /**
   * Present if a conversation_update after the interruption says what the user heard of the reply: an extension. The reply in traces is then that text.
   */
  corrected?: boolean;
}
export interface MeasuredBackchannel {
  at_ms: number;
  /**
   * Whether the agent fell silent within 1000 ms, for at least 700 ms, and then spoke again. Null if that is unclear: the silence was 300 to 700 ms long, or the agent did not speak again.
   */
  stopped_agent: boolean | null;
}
export interface TurnTakingEvent {
  kind: TurnTakingEventKind;
  at_ms: number;
  duration_ms: number;
}
/**
 * Present if the measurements are unreliable, because sandbox-kit itself was late. An eval is then scored only if a delay can't change its outcome.
 */
export interface UnprovenTurnTaking {
  reason: string;
  /**
   * The longest delay.
   */
  late_ms: number;
}
/**
 * The agent's speech in a call, transcribed by the endpoint of SANDBOX_KIT_TRANSCRIBE_URL, compared with its text (agent_response). Case, punctuation, and the way numbers are written do not matter.
 */
export interface HeardReplies {
  /**
   * Words of the agent's text, in the replies that were compared.
   */
  words: number;
  /**
   * Words that were heard differently, not heard, or heard in addition.
   */
  errors: number;
  word_error_rate: WordErrorRate;
  /**
   * Dates, amounts, codes, numbers, and names in the agent's text that were not heard.
   *
   * @maxItems 200
   */
  missed: MissedEntity[];
  /**
   * The replies that were compared.
   */
  replies: HeardReply[];
  /**
   * The other replies. interrupted: the user interrupted the reply, and no conversation_update says what was said of it, or the agent went on. not_transcribed: the endpoint failed; see notes.
   */
  not_compared: UncomparedReply[];
}
export interface MissedEntity {
  turn: number;
  kind: 'date' | 'amount' | 'code' | 'number' | 'name';
  text: string;
}
export interface HeardReply {
  turn: number;
  /**
   * The transcription; empty if the reply was not audible.
   */
  heard: string;
  words: number;
  errors: number;
}
export interface UncomparedReply {
  turn: number;
  reason: 'interrupted' | 'not_transcribed';
}
/**
 * The same for all calls of the run. Absent without calls.
 */
export interface RunHeard {
  /**
   * Number of calls with a reply that was compared.
   */
  calls: number;
  words: number;
  errors: number;
  word_error_rate: WordErrorRate;
  /**
   * Number of dates, amounts, codes, numbers, and names that were not heard.
   */
  missed: number;
  /**
   * Present if nothing was transcribed: why, and what to do about it.
   */
  skipped?: string;
}
/**
 * The turn-taking of all calls of the run: percentiles over all turns, and sums.
 */
export interface RunTurnTaking {
  calls: number;
  response_ms: ResponseTimes;
  yield_ms: YieldTimes;
  interruptions: number;
  /**
   * Number of interruptions after which the agent yielded.
   */
  yielded: number;
  overlap_ms: number;
  agent_interruptions: number;
  false_endpoints: number;
  missed_turns: number;
  dead_air_ms: number;
  gaps: number;
  /**
   * Number of calls whose measurements are unreliable.
   */
  not_proven: number;
}
/**
 * Whether the simulated user followed its scenario. It never changes a verdict; it shows how far the verdict can be trusted.
 */
export interface UserAdherence {
  followed_scenario: boolean;
  findings: Deviation[];
}
export interface Deviation {
  rule: 'fact_unasked' | 'went_on' | 'stopped_early' | 'off_script' | 'out_of_character';
  turn: number;
  message: string;
}
/**
 * Result of all samples of a scenario.
 */
export interface ScenarioResult {
  scenario_id: string;
  /**
   * Name of the scenario.
   */
  scenario: string;
  persona: string;
  samples: number;
  passed: number;
  failed: number;
  undecided: number;
  /**
   * Fraction of decided samples that passed; null if none is decided.
   */
  pass_rate: number | null;
  required_pass_rate: number;
  /**
   * Element k-1 is the probability that k samples, drawn from the decided samples, all passed.
   */
  pass_hat_k: number[];
  /**
   * The evals that score the scenario.
   */
  evals?: ScoringEval[];
  /**
   * Whether some samples passed and others failed.
   */
  flaky: boolean;
  verdict: SimulationVerdict;
}
export interface ScoringEval {
  id: string;
  /**
   * Differs if the kind or the parameters of the eval differ.
   */
  version: string;
  required: boolean;
}
/**
 * The result of a run of simulated users. Runs with the same random seed, scenarios, and replies are identical except for times. Later versions may add keys; no key is renamed or removed within a major version.
 */
export interface SimulationReport {
  verdict: SimulationVerdict;
  exitCode: 0 | 1 | 3;
  sentence: string;
  kitVersion: string;
  /**
   * Base URL.
   */
  sandbox: string;
  seed: string;
  /**
   * Whether the requests to the sandbox had an API key.
   */
  hasKey?: boolean;
  blockedBy?: SimulationBlocker;
  startedAt: string;
  endedAt: string;
  counts: SimulationCounts;
  scenarios: ScenarioResult[];
  /**
   * Ordered by scenario and sample.
   */
  sessions: SimulatedSessionReport[];
  turn_taking?: RunTurnTaking;
  heard?: RunHeard;
  comparison?: SimulationComparison;
  [k: string]: unknown;
}
/**
 * Why no session was started, and what to do about it.
 */
export interface SimulationBlocker {
  message: string;
  cure: string;
  [k: string]: unknown;
}
export interface SimulationCounts {
  sessions: number;
  passed: number;
  failed: number;
  undecided: number;
  /**
   * Number of sessions whose simulated user did not follow its scenario.
   */
  deviated: number;
}
export interface SimulatedSessionReport {
  /**
   * Also the session_id of its chat requests.
   */
  id: string;
  scenario_id: string;
  /**
   * Name of the scenario.
   */
  scenario: string;
  /**
   * Name of the persona.
   */
  persona: string;
  channel: 'chat' | 'voice';
  /**
   * Number of the session within its scenario, starting at 1.
   */
  sample: number;
  status: SimulationSessionStatus;
  end_reason: EndReason;
  /**
   * What went wrong if the session failed.
   */
  error?: string;
  verdict: SimulationVerdict;
  started_at: string;
  ended_at: string;
  /**
   * Latency of each turn. By chat: from the request to the complete response. By voice: from the end of the user's speech to the agent's first sound.
   */
  turn_latency_ms: number[];
  turn_taking?: TurnTaking;
  heard?: HeardReplies;
  /**
   * Id of the simulated user; null if the sandbox has no POST /users.
   */
  user_id: string | null;
  /**
   * Trace ids of the `traceparent` of each request to the sandbox, in order, without the deletion of the user. The last one is the request before the session ended.
   */
  trace_ids?: string[];
  resendable?: ResendableSession;
  traces: SimulatedTurnReport[];
  failed_turn?: FailedTurn;
  other_session?: OtherSessionReport;
  /**
   * Outcomes that pass or fail, as in the results endpoint.
   */
  eval_outcomes: EvalOutcome[];
  /**
   * Evals that could not be scored, with the reason.
   */
  errored_evals: ErroredEval[];
  outcome_summary: OutcomeSummary;
  review: UserAdherence;
  /**
   * Other observations, e.g. that the user could not be deleted.
   */
  notes: string[];
}
/**
 * What sandbox-kit resend needs, in addition to the turns, to send a request of the session again. Only in sessions by chat that did not pass.
 */
export interface ResendableSession {
  user?: UserCreateRequest;
  chat_request: SessionRequest;
  /**
   * Present if the first turn has no line of the user.
   */
  agent_speaks_first?: true;
  /**
   * The evals that failed or could not be scored, to score the new reply.
   */
  evals?: EvalDefinition[];
}
/**
 * The body of POST /users, which the service sends before a simulation.
 */
export interface UserCreateRequest {
  /**
   * ASCII letters, digits, and underscores, at most 64 characters.
   */
  user_id: string;
  metadata?: UserMetadata;
  profile?: UserProfile;
  [k: string]: unknown;
}
export interface UserMetadata {
  scenario_id?: string;
  persona?: string;
  session_type?: string;
  preferences?: {
    [k: string]: unknown;
  };
  history?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface UserProfile {
  name?: string;
  email?: string;
  tier?: string;
  location?: string;
  [k: string]: unknown;
}
/**
 * The chat request before the first turn.
 */
export interface SessionRequest {
  messages: {
    [k: string]: unknown;
  }[];
  user_id?: string;
  session_id?: string;
  metadata?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The turn that failed or stopped a session by chat.
 */
export interface FailedTurn {
  session_sequence: number;
  request: ChatRequest1;
}
/**
 * Body of its chat request, to send again. Its user was deleted at the end of the session.
 */
export interface ChatRequest1 {
  /**
   * The conversation so far, oldest first.
   */
  messages: ChatMessage[];
  /**
   * Id of the simulated user.
   */
  user_id?: string;
  /**
   * Id of the session; the response echoes it.
   */
  session_id?: string;
  metadata?: ScenarioMetadata;
  [k: string]: unknown;
}
/**
 * The session of the other user, which is not scored.
 */
export interface OtherSessionReport {
  id: string;
  traces: SimulatedTurnReport[];
}
export interface ErroredEval {
  eval: string;
  eval_name: string;
  reasoning: string;
}
/**
 * This run compared with an earlier run.
 */
export interface SimulationComparison {
  startedAt: string;
  differences: string[];
  verdict: RunChange;
  /**
   * The verdict with its figures, and which runs would show more.
   */
  sentence: string;
  p: ChanceP;
  /**
   * How many samples of each scenario both runs need to show a difference of this size in 4 of 5 comparisons. Absent if they show it already, or if there is no difference.
   */
  samplesNeeded?: number;
  /**
   * Regressions first.
   */
  rows: ComparedScenario[];
}
export interface ComparedScenario {
  scenario_id: string;
  change: ScenarioChange;
  before: ScenarioStanding;
  now: ScenarioStanding;
  p: ChanceP;
  /**
   * Why the scenario can't be compared.
   */
  reason?: string;
}
/**
 * Request to run simulated users against an agent.
 */
export interface SimulationRequest {
  /**
   * Shown as simulation in results (spec 2.4). Default: the agent's name and the date.
   */
  name?: string;
  /**
   * The agent in its sandbox, or the id of one of /__admin/agents. A key given here is stored for this run only and never returned.
   */
  agent: string | TestedAgent;
  /**
   * Ids of /__admin/scenarios, or inline scenarios.
   *
   * @minItems 1
   * @maxItems 1000
   */
  scenarios: [string | Scenario, ...(string | Scenario)[]];
  /**
   * Sessions per scenario. Default: the value of each scenario.
   */
  samples?: number;
  /**
   * Replaces the channel of the scenarios.
   */
  channel?: 'chat' | 'voice';
  /**
   * Random seed of ids and random choices. Default: unpredictable.
   */
  seed?: string;
  /**
   * Concurrent sessions. Default: 5.
   */
  concurrency?: number;
}
/**
 * An agent in a sandbox: its name, its URL, and the key of the sandbox.
 */
export interface TestedAgent {
  /**
   * Default: the id of the agent with the same name, otherwise derived from the name.
   */
  id?: string;
  /**
   * Shown as agent in results (spec 2.4).
   */
  name: string;
  /**
   * Base URL of the sandbox: http or https, without user name and password.
   */
  url: string;
  /**
   * URL of the voice WebSocket, ws or wss. Default: /voice below url (spec 4.9).
   */
  voice_url?: string;
  /**
   * The sandbox's bearer key, visible ASCII characters. Stored and never returned.
   */
  api_key?: string;
}
/**
 * A page of sessions with their outcomes, newest first.
 */
export interface SimulationSessionPage {
  items: SimulationSession[];
  /**
   * Number of sessions on all pages that match the filters.
   */
  total: number;
  skip: number;
  limit: number;
  [k: string]: unknown;
}
/**
 * An item of GET /api/simulations/sessions/.
 */
export interface SimulationSession {
  /**
   * Deep link {app_url}/simulation/ID?sessionId=ID; null when the simulation was deleted.
   */
  url: string | null;
  /**
   * Name of the simulation run.
   */
  simulation: string;
  agent: string;
  scenario: string;
  persona: string;
  /**
   * Session status, e.g. completed.
   */
  status: string;
  started_at: string;
  ended_at: string;
  outcome_summary: OutcomeSummary;
  eval_outcomes: EvalOutcome[];
  /**
   * Only with include_traces=true.
   */
  traces?: SimulationTurn[];
  [k: string]: unknown;
}
export interface SimulationTurn {
  session_sequence: number;
  user_input: string;
  /**
   * Why the simulated user said the line.
   */
  user_reason: string;
  agent_response: string;
  [k: string]: unknown;
}
/**
 * A run of simulated users in the service with its progress and results.
 */
export interface Simulation {
  id: string;
  name: string;
  status: SimulationStatus;
  verdict: SimulationVerdict;
  agent: SimulationAgent;
  seed: string;
  started_at: string;
  counts: SimulationProgress;
  scenarios: ScenarioResult[];
  sessions: SimulationSessionState[];
}
export interface SimulationAgent {
  name: string;
  url: string;
  /**
   * URL of the voice WebSocket, if given.
   */
  voice_url?: string;
}
export interface SimulationProgress {
  sessions: number;
  ended: number;
  passed: number;
  failed: number;
  undecided: number;
}
export interface SimulationSessionState {
  /**
   * Also the session_id of its chat requests.
   */
  id: string;
  scenario_id: string;
  /**
   * Name of the scenario.
   */
  scenario: string;
  /**
   * Name of the persona.
   */
  persona: string;
  channel: 'chat' | 'voice';
  /**
   * Number of the session within its scenario, starting at 1.
   */
  sample: number;
  status: SimulationSessionStatus;
  end_reason?: EndReason;
  /**
   * What went wrong if the session failed.
   */
  error?: string;
  verdict: SimulationVerdict;
  started_at?: string;
  ended_at?: string;
  /**
   * URL of the session page; null if the simulation was deleted.
   */
  url?: string | null;
  review?: UserAdherence;
}
/**
 * Sent by the service to start a call. The full form has audio_config under metadata, the minimal form at the top level; both are legal.
 */
export interface StartCall {
  type: 'start_call';
  user_id?: string;
  session_id?: string;
  audio_config?: AudioConfig;
  metadata?: CallMetadata;
  [k: string]: unknown;
}
export interface CallMetadata {
  scenario_id?: string;
  persona?: string;
  context?: unknown;
  captions?: unknown;
  audio_config?: AudioConfig;
  [k: string]: unknown;
}
export interface Span {
  /**
   * Hexadecimal digits, not base64.
   */
  traceId: string;
  /**
   * Hexadecimal digits, not base64.
   */
  spanId: string;
  /**
   * Empty or absent for the root span of a trace.
   */
  parentSpanId?: string;
  name?: string;
  startTimeUnixNano?: Nanoseconds;
  endTimeUnixNano?: Nanoseconds;
  attributes?: KeyValue[];
  status?: SpanStatus;
  [k: string]: unknown;
}
export interface KeyValue {
  key: string;
  value?: AnyValue;
  [k: string]: unknown;
}
/**
 * Exactly one of these keys; an empty object is the empty value.
 */
export interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  /**
   * Signed 64-bit integer.
   */
  intValue?: string | number;
  doubleValue?: number | ('NaN' | 'Infinity' | '-Infinity');
  arrayValue?: ArrayValue;
  kvlistValue?: KeyValueList;
  /**
   * Base64.
   */
  bytesValue?: string;
  [k: string]: unknown;
}
export interface ArrayValue {
  values?: AnyValue[];
  [k: string]: unknown;
}
export interface KeyValueList {
  values?: KeyValue[];
  [k: string]: unknown;
}
export interface SpanStatus {
  /**
   * 0 unset, 1 ok, 2 error.
   */
  code?: number;
  message?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/traces: an OTLP trace export request in JSON. Contains the fields that the service reads; all others are ignored.
 */
export interface TraceExportRequest {
  resourceSpans?: ResourceSpans[];
  [k: string]: unknown;
}
export interface ResourceSpans {
  resource?: Resource;
  scopeSpans?: ScopeSpans[];
  [k: string]: unknown;
}
export interface Resource {
  /**
   * Each attribute becomes a tag of the conversation unless its key starts with gen_ai.
   */
  attributes?: KeyValue[];
  [k: string]: unknown;
}
export interface ScopeSpans {
  scope?: InstrumentationScope;
  spans?: Span[];
  [k: string]: unknown;
}
export interface InstrumentationScope {
  name?: string;
  [k: string]: unknown;
}
/**
 * The service's response to POST /v1/traces: an OTLP trace export response in JSON. It is empty if all spans are stored. The response to a protobuf request has the same content: no bytes, or `partial_success`.
 */
export interface TraceExportResponse {
  /**
   * Present if spans exceed the limits of their conversation. They are not stored; all others are. Sending them again does not help.
   */
  partialSuccess?: {
    /**
     * Number of spans that are not stored. OTLP/JSON writes 64-bit integers as text.
     */
    rejectedSpans: string;
    /**
     * The limits, and what to do.
     */
    errorMessage: string;
  };
}
/**
 * The sandbox's response after it created a simulated user.
 */
export interface UserCreated {
  /**
   * The id in the request.
   */
  user_id: string;
  /**
   * When the user was created.
   */
  created_at: string;
  status: 'active' | 'inactive' | 'pending';
  session_id?: string;
  profile_id?: string;
  capabilities?: string[];
  [k: string]: unknown;
}
/**
 * The sandbox's response after it deleted a simulated user.
 */
export interface UserDeleted {
  /**
   * The id in the path.
   */
  user_id: string;
  /**
   * When the user was deleted.
   */
  deleted_at: string;
  status: 'deleted';
  [k: string]: unknown;
}
/**
 * Sent by the sandbox when a call fails. The specification defines the codes connection_failed and audio_error.
 */
export interface VoiceError {
  type: 'error';
  error: VoiceErrorDetail;
  [k: string]: unknown;
}
export interface VoiceErrorDetail {
  code: string;
  message: string;
  details?: string;
  [k: string]: unknown;
}
/**
 * Sent by the service: the SDP answer with all candidates.
 */
export interface WebrtcAnswer {
  type: 'webrtc_answer';
  session_id?: string;
  call_id: string;
  webrtc_answer: WebrtcAnswerDescription;
  [k: string]: unknown;
}
export interface WebrtcAnswerDescription {
  type: 'answer';
  sdp: string;
  [k: string]: unknown;
}

/** Every message by its name. */
export interface Messages {
  AgentFault: AgentFault;
  AgentScript: AgentScript;
  AudioConfig: AudioConfig;
  CallReady: CallReady;
  Caption: Caption;
  ChatRequest: ChatRequest;
  ChatResponse: ChatResponse;
  CheckReport: CheckReport;
  ClockChange: ClockChange;
  ClosedConversation: ClosedConversation;
  ConversationUpdate: ConversationUpdate;
  EndCall: EndCall;
  EvalDefinition: EvalDefinition;
  EvalOutcome: EvalOutcome;
  EvalReviews: EvalReviews;
  ExchangeRecord: ExchangeRecord;
  Health: Health;
  IceCandidate: IceCandidate;
  KeyGrant: KeyGrant;
  LiveSettings: LiveSettings;
  LoadReport: LoadReport;
  OutcomeSummary: OutcomeSummary;
  Persona: Persona;
  ProductionSessionPage: ProductionSessionPage;
  ProductionSession: ProductionSession;
  ReadinessReport: ReadinessReport;
  ResendReport: ResendReport;
  ResetRequest: ResetRequest;
  RunRecord: RunRecord;
  SandboxError: SandboxError;
  Scenario: Scenario;
  SeedDocument: SeedDocument;
  ServiceError: ServiceError;
  ServiceFault: ServiceFault;
  SessionVerdict: SessionVerdict;
  SimulationReport: SimulationReport;
  SimulationRequest: SimulationRequest;
  SimulationSessionPage: SimulationSessionPage;
  SimulationSession: SimulationSession;
  Simulation: Simulation;
  StartCall: StartCall;
  TestedAgent: TestedAgent;
  ToolCall: ToolCall;
  TraceExportRequest: TraceExportRequest;
  TraceExportResponse: TraceExportResponse;
  TranscriptUpload: TranscriptUpload;
  UserCreateRequest: UserCreateRequest;
  UserCreated: UserCreated;
  UserDeleted: UserDeleted;
  VoiceError: VoiceError;
  WebrtcAnswer: WebrtcAnswer;
}
