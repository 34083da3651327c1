/** Audio latency: pure calculations for callers, plus a monitor of local delays. */
export { explainLocalDelay, monitorLocalDelay, type LocalDelay } from './local-delay.ts';
export { ReceivedStream, type StreamStatistics } from './received-stream.ts';
export { measureTransitDelays, dropBacklog } from './packet-transit.ts';
export {
  computePathLatencyMs,
  judgeAudioLatency,
  type LatencyJudgment,
  type LatencyVerdict,
  findResponseLatencies,
  type PathComponents,
} from './latency-verdict.ts';
