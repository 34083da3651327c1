/** What the way of the audio adds, from one side's sound to the other's ear; in milliseconds. */
export interface AudioPath {
  /** 95th percentile of the round trip on the path of the media. */
  roundTripP95Ms: number;
  /** Sound in a packet: the first sample waits for the last. */
  packetMs: number;
  /** How deep a listener's buffer must be for one packet in a hundred to be late. */
  transitP99Ms: number;
}

/**
 * The latency of the way of the audio: half a round trip, a packet, and the buffer that its jitter
 * asks for. Blind to buffers inside the other side.
 */
export function audioPathLatencyMs({ roundTripP95Ms, packetMs, transitP99Ms }: AudioPath): number {
  return roundTripP95Ms / 2 + packetMs + transitP99Ms;
}
