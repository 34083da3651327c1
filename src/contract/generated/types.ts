// Generated from schemas/ by src/contract/generate.ts, do not edit.
export type Level = 'must' | 'should' | 'target' | 'may' | 'extension';
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
 * The exchanges that the verdict rests on, what failed first.
 */
export type Evidence = EvidenceItem[];
export type RunVerdict = 'conforming' | 'not-conforming' | 'not-judged';
/**
 * answered: the offer was taken and the answer sent. unusable: the offer could not be taken. connected, unconnected: media could flow, or not within the time. speech, sound: what the kit said, what the sandbox let be heard; from atMs to untilMs. released: the kit gave its end of the media up.
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
  | 'voice';
/**
 * valid: must be accepted. refuse: one edit away from its control, must be refused. open: the specification does not say.
 */
export type Intent = 'valid' | 'refuse' | 'open';
export type FailureKind =
  'unresolved' | 'refused' | 'tls' | 'plain_http' | 'timeout' | 'reset' | 'protocol' | 'too_large';
export type DependencyStatus = 'healthy' | 'unhealthy';
/**
 * Percentage, 0 to 100.
 */
export type Percentage = number;
export type LoadVerdict = 'PASS' | 'FAIL' | 'NOT PROVEN' | 'INVALID RUN' | 'NOT TESTED';
/**
 * What became of a request that did not end well.
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
  | 'local';
/**
 * What became of a call that was not held.
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
export type LoadEngineName = 'open' | 'autocannon';
/**
 * all: mixed and voice together.
 */
export type LoadProfileName = 'chat' | 'conversation' | 'health' | 'mixed' | 'voice' | 'all';
export type Arrivals = 'uniform' | 'poisson';
export type LoadTargetId =
  | 'chat-latency'
  | 'chat-throughput'
  | 'availability'
  | 'health-latency'
  | 'chat-sessions'
  | 'voice-latency'
  | 'voice-connections';
export type StreamName = 'chat' | 'health' | 'users';
export type LoadPhase = 'ramp' | 'window' | 'drain';
/**
 * better or worse only where the 95 % ranges of the two runs do not meet.
 */
export type Change = 'better' | 'worse' | 'alike' | 'unknown';
export type Area = 'chat' | 'health' | 'users' | 'voice' | 'service';
/**
 * Of a session: failed when a required eval fails; passed when the session is completed, an eval passes and no required one fails or errors; else undecided. Of a scenario: passed when so many samples pass that its pass rate is reached, failed when it no longer can be, else undecided. Of a run: failed when a scenario fails, else undecided when one is, else passed.
 */
export type SimulationVerdict = 'passed' | 'failed' | 'undecided';
/**
 * Why the session ended. goal_achieved, user_stop, agent_ended, max_turns: the conversation came to an end and is scored. timeout: a reply, or the session, took too long. agent_error: the sandbox answered with an error, or not as the interface has it. infrastructure_error: the sandbox is not healthy, not to be reached, or hung up. simulator_error: the simulated user could not go on.
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
  | 'cancelled';
/**
 * completed: the conversation came to an end, however its evals came out. failed: it did not; nothing of it is scored.
 */
export type SimulationSessionStatus =
  'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'cancelled';
export type ScenarioStanding = {
  verdict: SimulationVerdict;
  passed: number;
  samples: number;
  [k: string]: unknown;
} | null;
export type ScenarioChange =
  'regressed' | 'worse' | 'unknown' | 'new' | 'gone' | 'fixed' | 'better' | 'same';
/**
 * evaluating: all sessions have ended, evals are still to be scored.
 */
export type SimulationStatus = 'running' | 'evaluating' | 'completed' | 'cancelled';
/**
 * Nanoseconds since the Unix epoch. A string keeps what a JSON number would round.
 */
export type Nanoseconds = string | number;

/**
 * A fault that the reference agent shows on demand.
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
    | 'dropped_call';
  /**
   * Where it shows; everywhere that it makes sense when left out.
   */
  route?: 'chat' | 'health' | 'users' | 'voice';
  latency?: LatencyProfile;
  /**
   * Seconds; the Retry-After of a rate_limit.
   */
  retry_after_s?: number;
  /**
   * Show it for so many requests, then stop. For good when left out.
   */
  times?: number;
  /**
   * Milliseconds after which it stops by itself.
   */
  ttl_ms?: number;
}
/**
 * Milliseconds, drawn from the seed between the two bounds: before the answer or the offer (latency), of each packet (jitter), before a reply is spoken (late_reply), that audio is held back inside (buffered_audio, 600 when left out), until a call is dropped (dropped_call, 1000 when left out).
 */
export interface LatencyProfile {
  min_ms: number;
  max_ms: number;
}
/**
 * The audio that the service offers to speak.
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
 * Sandbox to service: the call is set up, here is the WebRTC offer.
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
   * In words; no unit is set.
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
 * Service to sandbox: the words of what is about to be spoken. Sent only where call_ready.metadata.captions is true, as the caller begins to speak.
 */
export interface Caption {
  type: 'caption';
  session_id?: string;
  call_id: string;
  /**
   * What is spoken; 2000 characters at most, what is longer may be cut.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * What the service sends to POST /v1/chat/completions. Never carries tool definitions: the agent runs its own tools.
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
   * Id of the session; echoed by the reply.
   */
  session_id?: string;
  metadata?: ScenarioMetadata;
  [k: string]: unknown;
}
export interface ChatMessage {
  /**
   * Who speaks.
   */
  role: 'system' | 'user' | 'assistant';
  /**
   * What is said.
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
 * What the sandbox answers to a chat request.
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
   * The agent's own id of the conversation.
   */
  chat_id?: string;
  metadata?: ReplyMetadata;
  evaluation_metadata?: EvaluationHints;
  [k: string]: unknown;
}
export interface ChatChoice {
  /**
   * Place in the list, typically 0.
   */
  index?: number;
  message: AgentMessage;
  /**
   * Why the reply ends, typically stop.
   */
  finish_reason?: string;
  [k: string]: unknown;
}
export interface AgentMessage {
  role: 'assistant';
  /**
   * What the agent says; a string also beside tool calls.
   */
  content: string;
  /**
   * Every tool call of this reply with its result, in order.
   */
  tool_calls?: ToolCall[];
  [k: string]: unknown;
}
/**
 * A tool that the agent ran while it made its reply, with what the tool gave back.
 */
export interface ToolCall {
  /**
   * Id of the call.
   */
  id: string;
  /**
   * The only kind of tool there is.
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
   * What the tool was called with: JSON, encoded as a string.
   */
  arguments: string;
  /**
   * What the tool gave back, as it is: not encoded.
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
   * Names of the tools used.
   */
  tools_used?: string[];
  [k: string]: unknown;
}
/**
 * Free-form hints for the scoring; no key is required and none is wrong.
 */
export interface EvaluationHints {
  [k: string]: unknown;
}
export interface EvidenceItem {
  exchange: number;
  step: string;
  request: string;
  outcome: string;
  [k: string]: unknown;
}
/**
 * The judgement of a check run. Keys may be added in later versions; none is renamed or removed within a major version.
 */
export interface CheckReport {
  verdict: RunVerdict;
  exitCode: 0 | 1 | 3 | 70;
  kitVersion: string;
  suite: string;
  target: string;
  seed: string;
  startedAt: string;
  endedAt: string;
  blockedBy?: BlockedBy;
  counts: VerdictCounts;
  observedBehavior: ObservedBehaviors;
  /**
   * Rules that were waived, and why.
   */
  waived: string[];
  /**
   * What has to be known beside the verdict, e.g. that media was not judged, and what would change that; left out where there is nothing.
   */
  notices?: string[];
  /**
   * Ids of the baseline whose requirement is met by now: they are to be taken out. Until then the verdict is not-conforming, also where the sandbox itself breaks nothing.
   */
  staleKnownFailures?: string[];
  requirements: RequirementVerdict[];
  /**
   * Every call that was placed, also one whose WebSocket did not open, in the order of their ends; of a run that has the area voice.
   */
  calls?: CallSummary[];
  audioLatency?: AudioLatency;
  /**
   * Failures grouped by the one change that clears them, as tried on the recording.
   */
  causes: Cause[];
  [k: string]: unknown;
}
/**
 * The one cause for which nothing could be judged.
 */
export interface BlockedBy {
  id: string;
  message: string;
  cure: string;
  evidence: Evidence;
  [k: string]: unknown;
}
/**
 * How many requirements got each verdict.
 */
export interface VerdictCounts {
  [k: string]: number;
}
/**
 * What this sandbox does where the specification is silent.
 */
export interface ObservedBehaviors {
  [k: string]: string;
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
   * The baseline's comment on why it is accepted that this is not met; it then does not count against the run.
   */
  accepted?: string;
  /**
   * Why it was not judged, in words.
   */
  reason?: string;
  expected?: string;
  received?: string;
  /**
   * JSON pointer into the body of the first finding's answer.
   */
  pointer?: string;
  hint?: string;
  /**
   * A line for a shell that sends the first finding's request again; where that takes speech or media, one that places the calls again.
   */
  curl?: string;
  /**
   * How many places are wrong.
   */
  findings?: number;
  evidence: Evidence;
  [k: string]: unknown;
}
/**
 * One call; milliseconds where nothing else is said.
 */
export interface CallSummary {
  exchange: number;
  step: string;
  /**
   * In a few words.
   */
  outcome: string;
  /**
   * From start_call to call_ready.
   */
  readyMs?: number;
  /**
   * From the answer until media could flow, about 100 ms of which are the kit's own.
   */
  connectedMs?: number;
  /**
   * From then to the first packet.
   */
  firstPacketMs?: number;
  /**
   * From then to the first audible one.
   */
  firstSoundMs?: number;
  /**
   * Turns that the kit spoke.
   */
  turns: number;
  /**
   * From the end of a turn until the sandbox could be heard; negative where it spoke before.
   */
  turnResponsesMs?: number[];
  /**
   * What its updates say of the same.
   */
  statedResponsesMs?: number[];
  packets: number;
  /**
   * Packets that never came.
   */
  lost: number;
  /**
   * The longest time between two packets.
   */
  gapMaxMs?: number;
  /**
   * How deep a listener's buffer must be for one packet in a hundred to be late.
   */
  transitP99Ms?: number;
  roundTripP95Ms?: number;
  /**
   * How much of what came was audible.
   */
  soundMs: number;
  /**
   * How late the kit itself sent the latest one in a hundred of its packets.
   */
  kitLateMs?: number;
  closeCode?: number;
  [k: string]: unknown;
}
/**
 * Voice audio latency against its target of 200 ms; of a run in which media flowed.
 */
export interface AudioLatency {
  verdict: 'met' | 'missed' | 'not_proven';
  reason: string;
  /**
   * What the way of the audio adds, of the slowest call in twenty: half a round trip, a packet, and the buffer that jitter asks for. Blind to buffers inside the sandbox.
   */
  audioPathLatencyMs?: number;
  turnResponseMs?: TurnResponseFigures;
  /**
   * Why the kit itself was too slow to be trusted.
   */
  kitLimit?: string;
  [k: string]: unknown;
}
/**
 * From the end of the kit's speech until the sandbox could be heard, over all turns.
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
  [k: string]: unknown;
}
/**
 * Sets the service's clock or moves it on: exactly one of the two. PUT only sets. It ends with the year 9999; a restart puts it back to the machine's time, a reset does not.
 */
export interface ClockChange {
  /**
   * Milliseconds to move on.
   */
  advance_ms?: number;
  /**
   * Milliseconds since the Unix epoch.
   */
  set_ms?: number;
}
/**
 * What the service answers to POST /v1/sessions/{conversation_id}/end.
 */
export interface ClosedConversation {
  /**
   * The closed conversation.
   */
  conversation_id: string;
  status: 'evaluating';
  /**
   * Name of the daily run: base name and date.
   */
  run: string;
  /**
   * How many evals this call queued; 0 on a repeat.
   */
  evaluations_queued: number;
  /**
   * Present and true on a repeated call.
   */
  already_closed?: true;
  [k: string]: unknown;
}
/**
 * Sandbox to service: what was said in a turn.
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
 * Service to sandbox: the call is over. May be ignored; closing the WebSocket is the hang-up.
 */
export interface EndCall {
  type: 'end_call';
  session_id?: string;
  call_id?: string;
  [k: string]: unknown;
}
/**
 * An eval: one scoring criterion, and how it is scored.
 */
export interface EvalDefinition {
  id: string;
  /**
   * Shown as eval_name.
   */
  name: string;
  /**
   * Free text, shown as eval_category; general when left out.
   */
  category?: string;
  /**
   * session_level when left out.
   */
  type?: 'session_level' | 'turn_level';
  kind:
    | 'contains'
    | 'regex'
    | 'tool_called'
    | 'tool_args'
    | 'tool_order'
    | 'max_turns'
    | 'max_latency'
    | 'json_path'
    | 'evaluation_metadata'
    | 'judge';
  /**
   * What the kind needs; see the rules below.
   */
  params?: {
    [k: string]: unknown;
  };
  /**
   * False never makes a session fail, though it counts among the outcomes; true when left out.
   */
  required?: boolean;
}
/**
 * What one eval found of a session.
 */
export interface EvalOutcome {
  eval_name: string;
  /**
   * Free text.
   */
  eval_category: string;
  /**
   * session_level was seen; turn_level is ours.
   */
  eval_type: string;
  /**
   * pass was seen; fail is ours.
   */
  outcome: string;
  reasoning: string;
  [k: string]: unknown;
}
/**
 * A message, the end of the WebSocket, or what became of the media.
 */
export interface CallEvent {
  /**
   * Milliseconds since the run began.
   */
  atMs: number;
  from: 'kit' | 'sandbox';
  kind: CallEventKind;
  /**
   * Of a message, 65536 characters at most.
   */
  text?: string;
  /**
   * The size of a message too long to keep; absent when it is here as a whole.
   */
  bytes?: number;
  /**
   * The message came in a binary frame.
   */
  isBinary?: boolean;
  /**
   * The WebSocket's close code; 1006: there was none.
   */
  code?: number;
  /**
   * The reason of a close, why media failed, which clip was said.
   */
  detail?: string;
  /**
   * When speech or sound was over.
   */
  untilMs?: number;
}
/**
 * The audio that came, and how well the kit itself kept time.
 */
export interface CallMedia {
  /**
   * Of Opus, as offered and answered; absent in the answer: -1.
   */
  payloadType: number;
  /**
   * The sandbox tried the path with the answer's keys (ICE).
   */
  hasPath: boolean;
  /**
   * In the order of arrival; 20000 at most.
   */
  packets: CallPacket[];
  /**
   * Of STUN requests on the path of the media, in the order of asking.
   */
  roundTripsMs: number[];
  /**
   * Packets that the kit sent.
   */
  sent: number;
  /**
   * How late the kit itself sent the latest one in a hundred of its packets.
   */
  lateMs: number;
}
export interface CallPacket {
  /**
   * When it came, in milliseconds since the run began.
   */
  atMs: number;
  sequence: number;
  timestamp: number;
  payloadType: number;
  ssrc: number;
  /**
   * Of its payload.
   */
  bytes: number;
  /**
   * Sound that is in it, in 1/48000 s; 0 where it is no packet of Opus.
   */
  ticks: number;
  /**
   * How loud each 10 ms of it are, in dB below the loudest sine, -127 of silence; absent where it does not decode.
   */
  levelsDb?: number[];
}
/**
 * Lower-case names; a repeated header is joined by a comma.
 */
export interface RecordedHeaders {
  [k: string]: string;
}
/**
 * One HTTP request of a check run and what came of it, or one call: the WebSocket's upgrade and all that followed. Secrets are redacted before it is written.
 */
export interface ExchangeRecord {
  record: 'exchange';
  /**
   * 1 for the first of the run.
   */
  id: number;
  /**
   * Which probe sent it.
   */
  probe: string;
  /**
   * What is special about this request.
   */
  step: string;
  endpoint: Endpoint;
  intent: Intent;
  /**
   * Id of the exchange that this one differs from in one edit.
   */
  control?: number;
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
}
export interface RecordedRequest {
  method: string;
  path: string;
  headers: RecordedHeaders;
  /**
   * As text; of bytes that are no text, what they are; of a body too large to keep, its start.
   */
  body?: string;
  /**
   * The bytes of a body that is no text, such as protobuf or gzip.
   */
  bodyBase64?: string;
  /**
   * The size of a body too large to keep; absent when the body is here.
   */
  bodyBytes?: number;
}
export interface RecordedResponse {
  status: number;
  headers: RecordedHeaders;
  /**
   * As text, at most 4 MiB.
   */
  body: string;
}
/**
 * Why there is no whole answer.
 */
export interface ExchangeFailure {
  kind: FailureKind;
  message: string;
  /**
   * The status, where one came.
   */
  status?: number;
}
/**
 * What followed the upgrade, of an exchange with the voice endpoint whose WebSocket opened.
 */
export interface RecordedCall {
  /**
   * In the order of their times; 2000 at most.
   */
  events: CallEvent[];
  media?: CallMedia;
}
/**
 * What the sandbox answers to GET /health. Healthy and degraded come with 200, unhealthy with 503.
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
   * For voice agents; operational was seen.
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
 * What is wrong; only when unhealthy.
 */
export interface HealthFailure {
  message: unknown;
  details: unknown;
  [k: string]: unknown;
}
/**
 * Either way: one more ICE candidate. Optional, since every candidate stands in the SDP already.
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
   * The candidate line; empty at the end.
   */
  candidate: string;
  sdpMid?: string;
  sdpMLineIndex?: number;
  [k: string]: unknown;
}
/**
 * A key and whose it is.
 */
export interface KeyGrant {
  /**
   * Visible ASCII; made up when left out.
   */
  key?: string;
  /**
   * Name of the owner, who is made when there is none of that name; the owner of the request when left out.
   */
  owner?: string;
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
 * How often each kind of error came; none that did not come.
 */
export interface FaultCounts {
  [k: string]: number;
}
/**
 * Milliseconds; null where nothing was measured.
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
 * What became of the requests of one kind that were due in the judged window.
 */
export interface StreamReport {
  /**
   * Due in the window.
   */
  offered: number;
  /**
   * Sent; fewer than offered only where the generator failed.
   */
  sent: number;
  /**
   * Answered in time, with 2xx, as the interface asks, and with its own session.
   */
  ok: number;
  /**
   * Those of them that came within the target time.
   */
  goodput: number;
  errors: FaultCounts;
  latencyMs: LatencySummary;
  serviceMs: LatencySummary;
  lagMs: LatencySummary;
  firstByteMs: LatencySummary;
  offeredPerSecond: number;
  okPerSecond: number;
  /**
   * The longest Retry-After of a 429.
   */
  retryAfterS?: number;
  /**
   * Requirements that answers did not meet, by how often.
   */
  findings?: {
    [k: string]: number;
  };
  [k: string]: unknown;
}
/**
 * How often each kind of error came; none that did not come.
 */
export interface CallFaultCounts {
  [k: string]: number;
}
/**
 * Milliseconds; null where nothing was measured.
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
 * The verdict of a load run. Times are milliseconds. Latency is from the intended start of a request. Keys may be added in later versions; none is renamed or removed within a major version.
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
  blockedBy?: LoadBlocker;
  /**
   * Why the run ended before its time; its verdict rests on what was seen by then.
   */
  aborted?: string;
  plan: LoadPlan;
  targets: LoadTarget[];
  selfCheck: SelfCheck;
  chat?: StreamReport;
  health?: StreamReport;
  users?: StreamReport;
  /**
   * Which of chat, health, users were sent.
   */
  streams: StreamName[];
  warmUp?: WarmUp;
  outages?: Outages;
  trend?: InFlightTrend;
  /**
   * Second by second, from the ramp to the end of the drain.
   */
  timeline: LoadSecond[];
  /**
   * Upper bounds of the classes of heat; the last class has none.
   */
  heatBoundsMs?: number[];
  /**
   * Response and service times of the main stream by percentile.
   */
  curve?: CurvePoint[];
  /**
   * The first of each kind of error.
   */
  faultSamples: FaultSample[];
  findMax?: MaxRate;
  comparison?: LoadComparison;
  machine?: GeneratorMachine;
  /**
   * What a reader must know besides: blind spots, waivers.
   */
  notes: string[];
  voice?: VoiceLoad;
  [k: string]: unknown;
}
/**
 * Why nothing, or no more, was sent, and what to do about it.
 */
export interface LoadBlocker {
  message: string;
  cure: string;
  [k: string]: unknown;
}
/**
 * What was to be sent, fixed before the first request.
 */
export interface LoadPlan {
  engine: LoadEngineName;
  profile: LoadProfileName;
  arrivals: Arrivals;
  /**
   * Chat requests a second; of the profile health, health requests.
   */
  ratePerSecond: number;
  /**
   * Of the profile conversation: users who talk at once.
   */
  simulatedUsers?: number;
  /**
   * Length of the judged window.
   */
  windowMs: number;
  /**
   * Length of the closed-loop warm-up before it.
   */
  warmUpMs: number;
  /**
   * Length of the ramp between the two, at rising rates.
   */
  rampMs: number;
  /**
   * Which percentile of the response times is judged.
   */
  percentile: number;
  /**
   * Requests of the whole run, to a few.
   */
  requests: number;
  /**
   * Those of them that reach a model.
   */
  modelCalls: number;
  /**
   * Of the profiles voice and all: calls at once.
   */
  calls?: number;
  /**
   * Calls placed a second, until all are.
   */
  callsPerSecond?: number;
  [k: string]: unknown;
}
export interface LoadTarget {
  id: LoadTargetId;
  /**
   * What is asked, in words.
   */
  statement: string;
  /**
   * Section of the specification.
   */
  section: string;
  target: number;
  unit: 'ms' | 'requests/s' | '%' | 'connections';
  /**
   * null where nothing was measured.
   */
  measured: number | null;
  /**
   * One-sided 95 % bound on the side of the target: what the measured value is at worst. null where the samples are too few for one.
   */
  bound95: number | null;
  /**
   * Both one-sided 95 % bounds, lower first.
   *
   * @minItems 2
   */
  range95: [number | null, number | null, ...(number | null)[]];
  samples: number;
  verdict: LoadVerdict;
  reason: string;
  [k: string]: unknown;
}
/**
 * Whether the generator itself could keep up. If not, no target is judged.
 */
export interface SelfCheck {
  valid: boolean;
  /**
   * Why it is not valid.
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
 * The closed-loop warm-up, sent by autocannon; not judged.
 */
export interface WarmUp {
  /**
   * Connections.
   */
  connections: number;
  /**
   * Answers that came.
   */
  requests: number;
  /**
   * Errors and timeouts.
   */
  errors: number;
  /**
   * Median of the service time.
   */
  p50Ms: number | null;
  [k: string]: unknown;
}
/**
 * How failures lay in time.
 */
export interface Outages {
  /**
   * Seconds of the judged window.
   */
  seconds: number;
  /**
   * Those without a failure.
   */
  cleanSeconds: number;
  /**
   * The longest time in which every request that began failed.
   */
  longestMs: number;
  /**
   * Runs of failures in a row.
   */
  incidents: number;
  [k: string]: unknown;
}
/**
 * How chat requests in flight rose over the last two thirds of the window (Theil-Sen).
 */
export interface InFlightTrend {
  /**
   * Requests a second by which they rose.
   */
  perSecond: number;
  /**
   * One-sided 95 % bounds of it, lower first.
   *
   * @minItems 2
   */
  range95: [number, number, ...number[]];
  /**
   * In flight when the window began.
   */
  atStart: number;
  /**
   * In flight when it ended.
   */
  atEnd: number;
  /**
   * They rose for certain, and by more than 1 % of the offered rate.
   */
  rising: boolean;
  [k: string]: unknown;
}
export interface LoadSecond {
  /**
   * Seconds since the judged window began; negative in the ramp.
   */
  second: number;
  phase: LoadPhase;
  /**
   * Requests that were due.
   */
  offered: number;
  /**
   * Requests that left.
   */
  sent: number;
  /**
   * Requests that ended, well or not.
   */
  done: number;
  /**
   * Requests that ended well.
   */
  ok: number;
  /**
   * In flight at its end, at most.
   */
  inFlight: number;
  /**
   * Response time of the main stream by the second in which it was due; null where none came.
   */
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  errors: FaultCounts;
  /**
   * How many response times fell into each of the bounds of heatBoundsMs.
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
   * When it ended, since the judged window began.
   */
  atMs: number;
  /**
   * The session_id of the request.
   */
  session?: string;
  detail: string;
  [k: string]: unknown;
}
/**
 * The rate that is sustained, from --find-max.
 */
export interface MaxRate {
  /**
   * Answers a second in a closed loop; where the search began follows from it.
   */
  probePerSecond?: number;
  /**
   * The highest rate that held; null where none did.
   */
  sustains: number | null;
  /**
   * The lowest rate that did not; null where all held.
   */
  fails: number | null;
  /**
   * The rate held for the whole confirmation, too.
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
   * 0 to 1.
   */
  failedShare: number;
  reason: string;
  [k: string]: unknown;
}
/**
 * This run against an earlier one.
 */
export interface LoadComparison {
  /**
   * When the earlier run began.
   */
  startedAt: string;
  /**
   * Settings that differ, for which the runs say less about the sandbox.
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
 * Where the load came from.
 */
export interface GeneratorMachine {
  node: string;
  cpus: number;
  cpuModel: string;
  /**
   * What the generator used of one core during the window.
   */
  cpuPercent: number;
  engineVersion: string;
  [k: string]: unknown;
}
/**
 * What became of the calls. readyMs: start_call to call_ready. setupMs: From when a call was due until media could flow. firstPacketMs: From when it was due until audio came. audioPathLatencyMs: The way of the audio of each call: half its round trip at p95, a packet, and the buffer that its jitter asks for. Blind to buffers inside the agent. roundTripMs: By STUN on the path of the media, all of them. jitterMs: Of each call: by how much one packet in a hundred was late against its neighbours. turnResponseMs: From the end of our speech until the agent was audible, all turns; negative where it spoke before.
 */
export interface VoiceLoad {
  /**
   * Calls that were to be placed.
   */
  calls: number;
  /**
   * Calls whose media path was connected.
   */
  connected: number;
  /**
   * Calls that were connected all through the judged window, with audio that came in it.
   */
  held: number;
  /**
   * Calls that were connected and then lost.
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
   * Turns of ours in the window that were over in time to be answered in it.
   */
  turns: number;
  /**
   * Those of them that nothing audible followed.
   */
  unansweredTurns: number;
  packets: CallPackets;
  callers: CallerCosts;
  /**
   * Call by call, in the order in which they were placed.
   */
  perCall: CallVerdict[];
  /**
   * The first of each kind of error.
   */
  faultSamples: CallFaultSample[];
  /**
   * Second by second, from the first call to the last hang-up.
   */
  timeline: VoiceSecond[];
  [k: string]: unknown;
}
/**
 * Calls that were held, by what is known of their audio latency against the target.
 */
export interface CallLatencyVerdicts {
  /**
   * Below the target, buffers inside the agent included.
   */
  met: number;
  /**
   * The way of the audio alone takes as long as the target, or longer.
   */
  missed: number;
  /**
   * Nothing stands against it, and nothing shows it.
   */
  notProven: number;
  [k: string]: unknown;
}
/**
 * Packets of audio in the window.
 */
export interface CallPackets {
  /**
   * Frames of 20 ms that left.
   */
  sent: number;
  /**
   * Without those that came twice.
   */
  received: number;
  /**
   * Packets that never came, between the first and the last of a call.
   */
  lost: number;
  /**
   * Packets that came after one that was sent later.
   */
  reordered: number;
  /**
   * Packets that came over 40 ms later after the one before than they were sent after it.
   */
  gaps: number;
  /**
   * By how much, at most.
   */
  longestGapMs: number;
  [k: string]: unknown;
}
/**
 * The processes of the kit that placed the calls, at their worst.
 */
export interface CallerCosts {
  /**
   * How many there were.
   */
  processes: number;
  /**
   * Those of them that ended before their time.
   */
  ended: number;
  /**
   * Of one core.
   */
  cpuPercent: number;
  /**
   * By which they came late to what was due; what is received is seen so late.
   */
  loopLateP99Ms: number;
  /**
   * By which frames left late.
   */
  sendLateP99Ms: number;
  sendLateMaxMs: number;
  [k: string]: unknown;
}
export interface CallVerdict {
  /**
   * 0 for the first.
   */
  call: number;
  verdict: LoadVerdict;
  reason: string;
  fault?: CallFaultKind;
  setupMs: number | null;
  audioPathLatencyMs: number | null;
  /**
   * Median over its turns.
   */
  turnResponseMs: number | null;
  /**
   * Packets that never came.
   */
  lostPackets: number;
  [k: string]: unknown;
}
export interface CallFaultSample {
  kind: CallFaultKind;
  /**
   * 0 for the first.
   */
  call: number;
  /**
   * Since the judged window began.
   */
  atMs: number;
  session: string;
  detail: string;
  [k: string]: unknown;
}
export interface VoiceSecond {
  /**
   * Seconds since the judged window began; negative in the ramp.
   */
  second: number;
  /**
   * Calls that were connected at its end.
   */
  up: number;
  /**
   * Frames that left.
   */
  sent: number;
  /**
   * Packets that came.
   */
  received: number;
  /**
   * As in packets.
   */
  gaps: number;
  sendLateMaxMs: number;
  [k: string]: unknown;
}
/**
 * How the evals of a session came out; always of the whole session.
 */
export interface OutcomeSummary {
  /**
   * Passed and failed; an eval that errored is neither.
   */
  total_evaluations: number;
  passed_count: number;
  failed_count: number;
  /**
   * Fraction, 0 to 1; 0 without outcomes.
   */
  pass_rate: number;
  [k: string]: unknown;
}
/**
 * A persona: who a simulated user is, whatever they want. What they want stands in a scenario.
 */
export interface Persona {
  /**
   * What scenarios name.
   */
  id: string;
  /**
   * Shown as persona in results (spec 2.4), and sent as metadata.persona.
   */
  name: string;
  /**
   * Who they are and how they speak, in words; what a language model that plays the user goes by.
   */
  characteristics?: string;
  /**
   * Language tag, e.g. en or de-CH; en when left out.
   */
  language?: string;
  /**
   * How much they say; standard when left out.
   */
  verbosity?: 'minimal' | 'standard' | 'chatty';
  /**
   * Replies in a row that bring them no further, after which they give up (end reason user_stop); they never do when left out.
   */
  patience_turns?: number;
  /**
   * Words to pick personas by.
   *
   * @maxItems 50
   */
  tags?: string[];
  voice?: PersonaVoice;
}
/**
 * How they sound on the voice channel.
 */
export interface PersonaVoice {
  /**
   * Name of a voice, as the speech synthesis knows it.
   */
  name?: string;
  /**
   * Share of the usual speed of speech, 0.5 to 2; 1 when left out.
   */
  speed?: number;
  /**
   * How often they speak into the agent's turn; none when left out.
   */
  interruptions?: 'none' | 'rare' | 'frequent';
}
/**
 * A page of sessions with their outcomes, newest first.
 */
export interface ProductionSessionPage {
  items: ProductionSession[];
  /**
   * Sessions that match the filters, on all pages.
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
   * The caller's own id: of the transcript, or gen_ai.conversation.id.
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
 * Forgets everything of an owner but its keys; then, where asked, fills it with the seed again.
 */
export interface ResetRequest {
  to: 'seed' | 'empty';
}
/**
 * What a check run was asked to do. The first line of its transcript.
 */
export interface RunRecord {
  record: 'run';
  kitVersion: string;
  /**
   * Name of the set of requirements.
   */
  suite: string;
  /**
   * Base URL of the sandbox, or of the service.
   */
  target: string;
  seed: string;
  startedAt: string;
  areas: Area[];
  /**
   * Plain HTTP is waived.
   */
  allowHttp: boolean;
  /**
   * A key was sent.
   */
  keyGiven: boolean;
  /**
   * What is large, many or slow was sent, and the clock of the control API moved; only of a run of the service.
   */
  intrusive?: boolean;
  /**
   * Name of the header that held the service's key, where it is not x-service-api-key.
   */
  apiKeyHeader?: string;
  /**
   * Address of the voice WebSocket; of a run that has the area voice.
   */
  voiceUrl?: string;
  /**
   * Somebody stopped it before its end.
   */
  interrupted?: boolean;
  /**
   * Requests in flight at most.
   */
  concurrency: number;
}
/**
 * What the sandbox answers when it refuses a request or fails. The interface names these pairs of code and type: bad_request and invalid_request_error (400), rate_limit_exceeded and rate_limit_error (429), server_error and internal_error (500), user_exists and duplicate_user_error, health_check_failed and internal_error (500).
 */
export interface SandboxError {
  error: SandboxErrorDetail;
  [k: string]: unknown;
}
export interface SandboxErrorDetail {
  /**
   * For a person.
   */
  message: string;
  /**
   * The family of the error.
   */
  type: string;
  /**
   * The error itself.
   */
  code: string;
  [k: string]: unknown;
}
/**
 * Holds when all that it names are true of the agent's last reply.
 */
export interface ReplyCondition {
  /**
   * The reply contains it, whatever the case.
   */
  contains?: string;
  /**
   * The reply contains one of these, whatever the case.
   *
   * @minItems 1
   * @maxItems 100
   */
  contains_any?: [string, ...string[]];
  /**
   * The reply does not contain it, whatever the case.
   */
  lacks?: string;
  /**
   * A regular expression of JavaScript that the reply matches somewhere, whatever the case.
   */
  matches?: string;
  /**
   * Name of a tool that the agent called for the reply.
   */
  tool_called?: string;
  /**
   * The reply is that of this turn, 1 for the first.
   */
  turn?: number;
}
/**
 * A scenario: what a simulated user wants and says, and how the conversation is scored. Who the user is stands in a persona.
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
   * Free text to pick and group by, e.g. happy_path, edge_case, adversarial; general when left out.
   */
  category?: string;
  /**
   * Words to pick scenarios by.
   *
   * @maxItems 50
   */
  tags?: string[];
  /**
   * How the user talks to the sandbox; chat when left out.
   */
  channel?: 'chat' | 'voice';
  /**
   * Who the user is: the id of a persona, or a persona as it stands in its own file; a plain, polite customer when left out.
   */
  persona?: string | Persona;
  /**
   * Messages that stand before the user's first line, oldest first; sent in every chat request (spec 2.7).
   *
   * @maxItems 1000
   */
  initial_messages?: ScenarioMessage[];
  /**
   * All that is left to chance follows from it; the run's own seed when left out.
   */
  seed?: string;
  /**
   * How many sessions of it a run has; 1 when left out.
   */
  samples?: number;
  /**
   * Share of the samples, 0 to 1, that must pass; 1 when left out.
   */
  pass_rate?: number;
  /**
   * The evals that score each session: the id of each, or an eval as it stands in its own file.
   *
   * @maxItems 100
   */
  evals?: (string | EvalDefinition)[];
  user: ScenarioUser;
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
   * Who speaks.
   */
  role: 'system' | 'user' | 'assistant';
  /**
   * What is said.
   */
  content: string;
}
/**
 * What the simulated user says and wants.
 */
export interface ScenarioUser {
  /**
   * scripted: opening, then the lines of steps in order, whatever the agent says. graph: opening, then reactions, facts and steps as the agent's replies call for them; deterministic. llm: a language model plays the user. graph when left out.
   */
  mode?: 'scripted' | 'graph' | 'llm';
  /**
   * The user's first line; wanted but in mode llm.
   */
  opening?: string;
  /**
   * What the user wants, in words; wanted in mode llm, shown beside results in every mode.
   */
  goal?: string;
  /**
   * Whether the user opens the conversation; false: the agent does, and opening answers it. True when left out.
   */
  speaks_first?: boolean;
  /**
   * What the user knows and tells only when asked.
   *
   * @maxItems 100
   */
  facts?: ScenarioFact[];
  /**
   * What the user says in turn. After the last one the user is done (end reason goal_achieved).
   *
   * @maxItems 1000
   */
  steps?: ScenarioStep[];
  /**
   * What the user says to a reply of a certain kind, before steps go on; the first that fits.
   *
   * @maxItems 100
   */
  reactions?: ScenarioReaction[];
  /**
   * The user is done (end reason goal_achieved) when a reply meets one of these.
   *
   * @maxItems 100
   */
  stop_when?: ReplyCondition[];
}
export interface ScenarioFact {
  /**
   * What it is, e.g. order number. The agent asks for it by these words, whatever the case, unless asked_by has others.
   */
  name: string;
  /**
   * Told when the agent asks, and not before.
   */
  value: string;
  /**
   * Words by which the agent asks for it, whatever the case; one of them is enough.
   *
   * @minItems 1
   * @maxItems 100
   */
  asked_by?: [string, ...string[]];
  /**
   * The user's line, in which {value} stands for the value; the value alone when left out.
   */
  say?: string;
}
export interface ScenarioStep {
  /**
   * Names the step for next.
   */
  id?: string;
  when?: ReplyCondition;
  /**
   * The user's line, once when holds; right away when when is left out.
   */
  say: string;
  /**
   * The user's line as long as when does not hold; the user repeats the last line when left out.
   */
  otherwise?: string;
  /**
   * Id of the step that follows; the one below when left out.
   */
  next?: string;
  /**
   * Why the user says it; shown as user_reason.
   */
  reason?: string;
}
export interface ScenarioReaction {
  when: ReplyCondition;
  /**
   * The user's line.
   */
  say: string;
  /**
   * How often in a session it may be said; once when left out.
   */
  times?: number;
  /**
   * Whether the user ends the conversation with it (end reason user_stop); false when left out.
   */
  stop?: boolean;
  /**
   * Why the user says it; shown as user_reason.
   */
  reason?: string;
}
/**
 * Sent as it is, as metadata of every chat request (spec 2.7), beside scenario_id and persona.
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
 * Where a session ends if it does not end before.
 */
export interface ScenarioLimits {
  /**
   * Turns, each a line of the user and the reply; 10 when left out.
   */
  max_turns?: number;
  /**
   * Milliseconds that one reply may take; 30000 when left out. By voice until the agent has spoken it to its end; 60000 when left out.
   */
  turn_timeout_ms?: number;
  /**
   * Milliseconds that the session may take in all; 600000 when left out.
   */
  max_duration_ms?: number;
}
export interface SeedTurn {
  user_input: string;
  /**
   * Why the simulated user said it.
   */
  user_reason?: string;
  agent_response: string;
  /**
   * What the sandbox hinted at in the turn (spec 2.8): read by evals of kind evaluation_metadata.
   */
  evaluation_metadata?: {
    [k: string]: unknown;
  };
}
export interface SeedOutcome {
  /**
   * Id of an eval of the document or of the owner; gives name, category and type.
   */
  eval?: string;
  /**
   * Wanted when eval is left out.
   */
  eval_name?: string;
  /**
   * general when left out.
   */
  eval_category?: string;
  /**
   * session_level when left out.
   */
  eval_type?: 'session_level' | 'turn_level';
  outcome: 'pass' | 'fail' | 'error';
  /**
   * False never makes the session fail; as its eval has it when left out, else true.
   */
  required?: boolean;
  reasoning?: string;
}
/**
 * What a service is filled with: everything in it belongs to one owner, but for keys that name another.
 */
export interface SeedDocument {
  /**
   * @maxItems 1000
   */
  keys?: KeyGrant[];
  /**
   * Agents that simulations name; one without a url is a name alone, and not kept.
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
   * Who simulated users are.
   *
   * @maxItems 1000
   */
  personas?: Persona[];
  /**
   * What simulated users want; they may name evals and personas of the document or of the owner.
   *
   * @maxItems 1000
   */
  scenarios?: Scenario[];
  /**
   * Scored at once.
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
  /**
   * The sandbox's bearer key, visible ASCII. Kept, and never shown again.
   */
  api_key?: string;
}
/**
 * A finished conversation, handed in as text and scored at once.
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
   * Of the whole conversation: read by evals of kind json_path at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  run?: string;
  /**
   * Ids; the live set when left out.
   */
  evals?: string[];
}
export interface UploadedTurn {
  user_input: string;
  agent_response: string;
  /**
   * What the sandbox hinted at in the turn (spec 2.8): read by evals of kind evaluation_metadata.
   */
  evaluation_metadata?: {
    [k: string]: unknown;
  };
}
export interface SeedSimulation {
  /**
   * Made from the name when left out.
   */
  id?: string;
  name: string;
  /**
   * Name or id of an agent of the document; any other is a name.
   */
  agent: string;
  /**
   * Whether its row is deleted, so that its sessions have no link.
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
   * Made from its simulation and its place in it when left out.
   */
  id?: string;
  /**
   * completed when left out.
   */
  status?: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'cancelled';
  started_at: string;
  /**
   * started_at when left out.
   */
  ended_at?: string;
  end_reason?: string;
  /**
   * Of the whole session: read by evals of kind json_path at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Ids of evals that are to score it, besides the outcomes that it has.
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
   * Made from its run and source_session_id when left out.
   */
  id?: string;
  /**
   * completed when left out.
   */
  status?: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'cancelled';
  started_at: string;
  /**
   * started_at when left out.
   */
  ended_at?: string;
  end_reason?: string;
  /**
   * Of the whole session: read by evals of kind json_path at $.metadata.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Ids of evals that are to score it, besides the outcomes that it has.
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
 * What the service answers when it refuses a request of area A.
 */
export interface ServiceError {
  /**
   * What was expected, what came, what to do.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * A fault that the service shows on demand, so that a client can test its retries.
 */
export interface ServiceFault {
  /**
   * 429, 500, 503, or the right answer after delay_ms.
   */
  kind: 'rate_limit' | 'server_error' | 'unavailable' | 'slow';
  /**
   * Where it shows; everywhere when left out.
   */
  route?: 'traces' | 'end' | 'results';
  /**
   * Milliseconds that a slow answer waits; 1000 when left out.
   */
  delay_ms?: number;
  /**
   * Seconds; the Retry-After of a rate_limit or unavailable; 1 when left out.
   */
  retry_after_s?: number;
  /**
   * Show it for so many requests, then stop. For good when left out.
   */
  times?: number;
  /**
   * Milliseconds after which it stops by itself.
   */
  ttl_ms?: number;
}
/**
 * Whether a session as a whole passed, and by which outcomes; also those that errored, which the interface does not show.
 */
export interface SessionVerdict {
  /**
   * The sessionId of its deep link.
   */
  id: string;
  kind: 'simulation' | 'production';
  status: 'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'cancelled';
  /**
   * failed: a required eval failed. passed: the session is completed, an eval passed, and no required one failed or errored. Else undecided.
   */
  verdict: 'passed' | 'failed' | 'undecided';
  /**
   * Its page; absent when its simulation was deleted.
   */
  url?: string;
  /**
   * Of production sessions: the caller's own id of the conversation.
   */
  source_session_id?: string;
  end_reason?: string;
  outcomes: VerdictOutcome[];
  /**
   * Of sessions of simulated users: scenario_id, channel, sample, user_id, error, review of the user, notes.
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
   * As the eval was when it was queued; false never makes the session fail.
   */
  required: boolean;
  reasoning: string;
}
/**
 * Whether the simulated user kept to its scenario. It never changes a verdict: it says how far one can be trusted.
 */
export interface UserReview {
  kept: boolean;
  findings: ReviewFinding[];
}
export interface ReviewFinding {
  rule: 'fact_unasked' | 'went_on' | 'stopped_early' | 'off_script' | 'out_of_character';
  turn: number;
  message: string;
}
/**
 * What all samples of a scenario came to.
 */
export interface ScenarioResult {
  scenario_id: string;
  /**
   * Its name.
   */
  scenario: string;
  persona: string;
  samples: number;
  passed: number;
  failed: number;
  undecided: number;
  /**
   * Passed of passed and failed; null where there are none of them.
   */
  pass_rate: number | null;
  wanted_pass_rate: number;
  /**
   * At place k-1: the chance that k samples, drawn from those that passed or failed, all passed.
   */
  pass_hat_k: number[];
  /**
   * Some samples passed and some failed.
   */
  flaky: boolean;
  verdict: SimulationVerdict;
}
/**
 * What a run of simulated users came to. With the same seed, scenarios and answers it is the same but for times. Keys may be added in later versions; none is renamed or removed within a major version.
 */
export interface SimulationReport {
  verdict: SimulationVerdict;
  exitCode: 0 | 1 | 3;
  sentence: string;
  kitVersion: string;
  /**
   * Base address.
   */
  sandbox: string;
  seed: string;
  startedAt: string;
  endedAt: string;
  counts: SimulationCounts;
  scenarios: ScenarioResult[];
  /**
   * In the order of the scenarios and their samples.
   */
  sessions: SimulatedSessionReport[];
  comparison?: SimulationComparison;
  [k: string]: unknown;
}
export interface SimulationCounts {
  sessions: number;
  passed: number;
  failed: number;
  undecided: number;
  /**
   * Sessions whose simulated user did not keep to its scenario.
   */
  strayed: number;
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
   * 1 for the first session of its scenario.
   */
  sample: number;
  status: SimulationSessionStatus;
  end_reason: EndReason;
  /**
   * What went wrong, where the session failed.
   */
  error?: string;
  verdict: SimulationVerdict;
  started_at: string;
  ended_at: string;
  /**
   * Of each turn: by chat from the request to the whole answer, by voice from the last sound of the user to the first of the agent.
   */
  turn_latency_ms: number[];
  /**
   * Of the simulated user; null where the sandbox has no POST /users.
   */
  user_id: string | null;
  traces: SimulatedTurnReport[];
  /**
   * As the results endpoint lists them: those that pass or fail.
   */
  eval_outcomes: EvalOutcome[];
  /**
   * Evals of which nothing could be found out, and why.
   */
  errored_evals: ErroredEval[];
  outcome_summary: OutcomeSummary;
  review: UserReview;
  /**
   * What was noticed besides, e.g. that the user could not be deleted.
   */
  notes: string[];
}
export interface SimulatedTurnReport {
  session_sequence: number;
  user_input: string;
  /**
   * Why the simulated user said it.
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
export interface ErroredEval {
  eval: string;
  eval_name: string;
  reasoning: string;
}
/**
 * This run against an earlier one.
 */
export interface SimulationComparison {
  startedAt: string;
  differences: string[];
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
}
/**
 * Asks the service to run simulated users against an agent: each scenario so many times.
 */
export interface SimulationRequest {
  /**
   * Shown as simulation in results (spec 2.4); the agent's name and the date when left out.
   */
  name?: string;
  /**
   * The agent in its sandbox, or the id of one of /__admin/agents. A key given here is kept for the run alone, and never shown.
   */
  agent: string | TestedAgent;
  /**
   * Ids of /__admin/scenarios, or scenarios as they stand in their own files.
   *
   * @minItems 1
   * @maxItems 1000
   */
  scenarios: [string | Scenario, ...(string | Scenario)[]];
  /**
   * Sessions of each scenario; as each scenario says when left out.
   */
  samples?: number;
  /**
   * Instead of what the scenarios say.
   */
  channel?: 'chat' | 'voice';
  /**
   * All ids and all that is left to chance follow from it; unforeseeable when left out.
   */
  seed?: string;
  /**
   * Sessions at a time; 5 when left out.
   */
  concurrency?: number;
}
/**
 * An agent in a sandbox, as simulations know it: its name, its address and the key of the sandbox.
 */
export interface TestedAgent {
  /**
   * That of the agent of the same name when left out, else made from the name.
   */
  id?: string;
  /**
   * Shown as agent in results (spec 2.4).
   */
  name: string;
  /**
   * Base address of the sandbox: http or https, without user and password.
   */
  url: string;
  /**
   * Its voice WebSocket, ws or wss; /voice of the url when left out (spec 4.9).
   */
  voice_url?: string;
  /**
   * The sandbox's bearer key, visible ASCII. Kept, and never shown again.
   */
  api_key?: string;
}
/**
 * A page of sessions with their outcomes, newest first.
 */
export interface SimulationSessionPage {
  items: SimulationSession[];
  /**
   * Sessions that match the filters, on all pages.
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
   * Why the simulated user said it.
   */
  user_reason: string;
  agent_response: string;
  [k: string]: unknown;
}
/**
 * A run of simulated users in the service, how far it is and what it has come to.
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
   * Of its voice WebSocket, where it was given.
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
   * 1 for the first session of its scenario.
   */
  sample: number;
  status: SimulationSessionStatus;
  end_reason?: EndReason;
  /**
   * What went wrong, where the session failed.
   */
  error?: string;
  verdict: SimulationVerdict;
  started_at?: string;
  ended_at?: string;
  /**
   * Its page; null when the simulation was deleted.
   */
  url?: string | null;
  review?: UserReview;
}
/**
 * Service to sandbox: begin a call. The full form carries audio_config under metadata, the minimal form at the top level; both are legal.
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
   * Hexadecimal digits, no base64.
   */
  traceId: string;
  /**
   * Hexadecimal digits, no base64.
   */
  spanId: string;
  /**
   * Empty or missing for the root of a trace.
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
 * One of these; none of them is the empty value.
 */
export interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  /**
   * 64 bits, signed.
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
 * What POST /v1/traces takes: an OTLP trace export request in its JSON encoding. Of its parts, those that the service reads; all others are ignored.
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
   * Each becomes a tag of the conversation, unless its key begins with gen_ai.
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
 * What the service sends to POST /users before a simulation.
 */
export interface UserCreateRequest {
  /**
   * ASCII letters, digits and underscore, at most 64 characters.
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
 * What the sandbox answers when it has created a simulated user.
 */
export interface UserCreated {
  /**
   * The id of the request.
   */
  user_id: string;
  /**
   * When the user came to be.
   */
  created_at: string;
  status: 'active' | 'inactive' | 'pending';
  session_id?: string;
  profile_id?: string;
  capabilities?: string[];
  [k: string]: unknown;
}
/**
 * What the sandbox answers when it has deleted a simulated user.
 */
export interface UserDeleted {
  /**
   * The id of the path.
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
 * Sandbox to service: the call failed. The named codes are connection_failed and audio_error.
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
 * Service to sandbox: the SDP answer, with all candidates in it.
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
  TranscriptUpload: TranscriptUpload;
  UserCreateRequest: UserCreateRequest;
  UserCreated: UserCreated;
  UserDeleted: UserDeleted;
  VoiceError: VoiceError;
  WebrtcAnswer: WebrtcAnswer;
}
