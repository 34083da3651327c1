/** The lines of a session description (SDP): its session part and its audio section. */
export interface SessionDescription {
  session: readonly string[];
  /** The first audio section, or undefined. */
  audio: readonly string[] | undefined;
}

/** Splits an SDP into its parts. */
export function readDescription(sdp: string): SessionDescription {
  const lines = sdp.split(/\r\n|\r|\n/);
  const starts = lines.flatMap((line, at) => (line.startsWith('m=') ? [at] : []));
  const section = (at: number): string[] =>
    lines.slice(at, starts.find((start) => start > at) ?? lines.length);
  const audioAt = starts.find((at) => lines[at]?.startsWith('m=audio '));
  return {
    session: lines.slice(0, starts[0] ?? lines.length),
    audio: audioAt === undefined ? undefined : section(audioAt),
  };
}

/** Returns an attribute of the audio section, or else of the session; undefined if both lack it. */
export function readAttribute(
  { session, audio = [] }: SessionDescription,
  name: string,
): string | undefined {
  const readFrom = (lines: readonly string[]): string | undefined => {
    const line = lines.find(
      (candidate) => candidate === `a=${name}` || candidate.startsWith(`a=${name}:`),
    );
    return line?.slice(name.length + 3);
  };
  return readFrom(audio) ?? readFrom(session);
}

/** Returns the parts of the `m=` line of the audio section. */
export const mediaPartsOf = ({ audio }: SessionDescription): readonly string[] =>
  (audio?.[0] ?? '').split(' ');
