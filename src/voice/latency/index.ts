/** How late audio is: arithmetic for whoever places calls, without IO. The door to the room. */
export { withoutBacklog } from './backlog.ts';
export { kitLimitOf, watchKit, type KitShare } from './kit-share.ts';
export { audioPathLatencyMs, type AudioPath } from './path.ts';
export { percentileOf } from './percentile.ts';
export { ReceivedStream, type Arrival, type StreamFigures } from './received-stream.ts';
export { transitVariations, type Transit } from './transit.ts';
export { turnResponses, type SpokenTurn } from './turn-response.ts';
export {
  audioLatencyMsMax,
  judgeAudioLatency,
  type LatencyEvidence,
  type LatencyJudgement,
  type LatencyVerdict,
} from './verdict.ts';
