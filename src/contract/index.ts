/**
 * Types, validators, limits, and codecs of the interface. Other packages import this file, and
 * `otlp-protobuf.ts` only where they read or write protobuf, because it loads a library.
 */
export type * from './generated/types.ts';
export { schemas } from './generated/schemas.ts';
export * from './constants.ts';
export { describeArgument, formatPlace } from './argument.ts';
export { createAsyncApi } from './asyncapi.ts';
export { createContractDocuments } from './documents.ts';
export { contractVersion } from './generated/version.ts';
export { findHealthProblem, readAgentVersion } from './health-rules.ts';
export { ISO_8601, parseIsoTime } from './iso8601.ts';
export { createOpenApi } from './openapi.ts';
export { sandboxRoutes } from './routes/sandbox-routes.ts';
export { serviceRoutes } from './routes/service-routes.ts';
export { callerMessageNames, voiceChannel } from './routes/voice-channel.ts';
export { findQueryProblems, listQueryParameters } from './query-parameters.ts';
export { listSummaries, pathPattern, type Route, type Routes } from './routes/route.ts';
export { readTraceRequest } from './otlp-json.ts';
export {
  OtlpError,
  otlpLimits,
  startsAsGzip,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';
export {
  CONVERSATION_ID_BYTES_MAX,
  CONVERSATION_ID_KEY,
  CONVERSATION_ID_LENGTH_MAX,
  findOtherText,
  findTimeFault,
  hasReply,
  hasValidIds,
  INPUT_KEY,
  isConversationId,
  isSpanId,
  isToolCallPart,
  isTraceId,
  listToolCalls,
  OPERATION_KEY,
  OUTPUT_KEY,
  readCallId,
  readCallName,
  readConversationId,
  readMessagesAttribute,
  readOperation,
  readToolName,
  TOOL_CALL_ID_KEY,
  TOOL_DETAIL_KEYS,
  TOOL_NAME_KEY,
  CONVERSATION_OPERATIONS,
  type TimeFault,
} from './span-rules.ts';
export {
  formatValue,
  describeMisspelled,
  describeViolations,
  findMisspelledFields,
  isMessage,
  listAt,
  resolvePointer,
  findViolations,
  type MessageName,
  type MisspelledField,
  type Violation,
} from './validate.ts';
export { findMisspelled } from './spelling.ts';
