/** Types, validators, limits, and codecs of the interface. Import only this file from outside the package. */
export type * from './generated/types.ts';
export { schemas } from './generated/schemas.ts';
export * from './constants.ts';
export { ISO_8601 } from './iso8601.ts';
export { decodeTraceRequest, encodeStatus, encodeTraceResponse } from './otlp.ts';
export { readTraceRequest } from './otlp-json.ts';
export {
  OtlpError,
  otlpLimits,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';
export {
  formatValue,
  describeViolations,
  isMessage,
  resolvePointer,
  findViolations,
  type MessageName,
  type Violation,
} from './validate.ts';
