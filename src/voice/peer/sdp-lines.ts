/** Candidate lines of a session description. Takes any text; a description is never trusted. */

import { isIP } from 'node:net';

const CANDIDATE_LINE = /^a=candidate:/;

/** Whether a description has a candidate that can be tried. */
export function hasCandidate(sdp: string): boolean {
  return linesOf(sdp).some((line) => CANDIDATE_LINE.test(line));
}

/**
 * The description without candidates that hide behind a name: looking one up asks a server, or with
 * mDNS the whole local network, and takes seconds.
 */
export function removeNamedCandidates(sdp: string): string {
  const kept = linesOf(sdp).filter((line) => !CANDIDATE_LINE.test(line) || !isNamedCandidate(line));
  // Where none is left, others may come.
  const isNoneLeft = !kept.some((line) => CANDIDATE_LINE.test(line));
  return kept.filter((line) => !isNoneLeft || line !== 'a=end-of-candidates').join('\r\n');
}

/**
 * The description with a port for audio that is bundled with another section (`a=bundle-only`): a 0
 * there does not mean that it is switched off (RFC 8843, 6).
 */
export function reopenBundledAudio(sdp: string): string {
  return sdp
    .split(/^(?=m=)/m)
    .map((section) =>
      /^a=bundle-only\r?$/m.test(section) ? section.replace(/^m=audio 0 /, 'm=audio 9 ') : section,
    )
    .join('');
}

/** Whether a candidate's address is a name, or missing. */
export function isNamedCandidate(candidate: string): boolean {
  const [, , , , address = ''] = candidate.split(' ');
  return isIP(address) === 0;
}

/** The description with these candidates at the end of its one media section. */
export function appendCandidates(sdp: string, candidates: readonly string[]): string {
  const lines = candidates.map((candidate) => `a=${candidate.replace(/^a=/, '')}\r\n`);
  return `${sdp.replace(/(?:\r?\n)*$/, '\r\n')}${lines.join('')}`;
}

/** Lines without which a call can't be secured or found; the first that a description lacks. */
export function findMissingLine(sdp: string): string | undefined {
  const lines = linesOf(sdp);
  return ['m=audio ', 'a=ice-ufrag:', 'a=ice-pwd:', 'a=fingerprint:'].find(
    (start) => !lines.some((line) => line.startsWith(start)),
  );
}

function linesOf(sdp: string): string[] {
  return sdp.split(/\r?\n/);
}
