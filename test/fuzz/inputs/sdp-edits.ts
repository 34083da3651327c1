/** Changes of session descriptions, line by line. */
import fc, { type Arbitrary } from 'fast-check';
import { WORDS } from './words.ts';

/** What parsers of session descriptions treat specially. */
const TOKENS: readonly string[] = [
  ...[
    '',
    '-1',
    '0',
    '1',
    '65535',
    '65536',
    '99999999999',
    'a=',
    'm=',
    'opus',
    '*',
    '::1',
    '127.0.0.1',
  ],
  ...['0.0.0.0', '255.255.255.255', '169.254.169.254', 'x.local', 'sha-256', 'passive', 'holdconn'],
  ...['RTP/AVP', 'IN IP4', 'BUNDLE', 'typ', 'host', 'relay', 'udp', 'tcp', 'raddr', ...WORDS],
].filter((word) => word.length < 200);

/** A change of a line; `line` and `word` count modulo their number. */
export type SdpEdit = { line: number } & (
  | { change: 'drop' }
  | { change: 'repeat'; times: number }
  | { change: 'move'; to: number }
  | { change: 'cut'; length: number }
  | { change: 'word'; word: number; token: string }
  | { change: 'insert'; text: string }
  | { change: 'end' }
);

const line = fc.nat(200);

/** Lines that a description may have, complete or not. */
const LINES: readonly string[] = [
  ...[
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    'm=video 9 UDP/TLS/RTP/SAVPF 96',
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  ],
  ...[
    'm=audio 0 RTP/AVP',
    'm=',
    'a=group:BUNDLE 0 1',
    'a=mid:0',
    'a=mid:',
    'a=ssrc:1 cname:x',
    'a=ssrc:x',
    'a=ssrc-group:FID 1',
  ],
  ...[
    'a=rtpmap:111 opus/48000/2',
    'a=rtpmap:x',
    'a=fmtp:111 minptime=10',
    'a=rtcp-fb:111 nack pli',
    'a=extmap:1 urn:x',
  ],
  ...[
    'a=candidate:1 1 udp 1 127.0.0.1 9 typ host',
    'a=candidate:1 1 tcp 1 127.0.0.1 9 typ host tcptype active',
  ],
  ...[
    'a=candidate:x',
    'a=candidate:1 1 udp 1 10.0.0.1 9 typ relay raddr 0.0.0.0 rport 0',
    'a=end-of-candidates',
  ],
  ...[
    'a=ice-ufrag:a',
    'a=ice-pwd:',
    'a=ice-lite',
    'a=ice-options:trickle',
    'a=setup:active',
    'a=setup:x',
    'a=sctp-port:5000',
  ],
  ...[
    'a=fingerprint:sha-256 00:11',
    'a=fingerprint:md5 00',
    'a=rid:1 send',
    'a=simulcast:send 1;2',
    'a=inactive',
    'a=rtcp-mux',
  ],
];

const sdpEdit: Arbitrary<SdpEdit> = fc.oneof(
  fc.record({ line, change: fc.constant('drop' as const) }),
  fc.record({
    line,
    change: fc.constant('repeat' as const),
    times: fc.constantFrom(2, 40, 500, 3_000),
  }),
  fc.record({ line, change: fc.constant('move' as const), to: line }),
  fc.record({ line, change: fc.constant('cut' as const), length: fc.nat(40) }),
  {
    weight: 4,
    arbitrary: fc.record({
      line,
      change: fc.constant('word' as const),
      word: fc.nat(12),
      token: fc.constantFrom(...TOKENS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      line,
      change: fc.constant('insert' as const),
      text: fc.constantFrom(...LINES),
    }),
  },
  fc.record({ line, change: fc.constant('end' as const) }),
);

/** Some descriptions stay as they are. */
export const sdpEdits: Arbitrary<SdpEdit[]> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<SdpEdit[]>([]) },
  { weight: 4, arbitrary: fc.array(sdpEdit, { minLength: 1, maxLength: 5 }) },
);

/** Returns a session description with changes. */
export function editSdp(sdp: string, edits: readonly SdpEdit[]): string {
  const lines = sdp.split('\r\n');
  for (const edit of edits) {
    const at = edit.line % Math.max(1, lines.length);
    const text = lines[at] ?? '';
    if (edit.change === 'drop') lines.splice(at, 1);
    else if (edit.change === 'repeat')
      lines.splice(at, 1, ...Array.from({ length: edit.times }, () => text));
    else if (edit.change === 'move')
      lines.splice(edit.to % lines.length, 0, ...lines.splice(at, 1));
    else if (edit.change === 'cut') lines.splice(at, 1, text.slice(0, edit.length));
    else if (edit.change === 'insert') lines.splice(at, 0, edit.text);
    else if (edit.change === 'end') lines.splice(at);
    else {
      const words = text.split(/(?<=[ :=/])/);
      lines.splice(at, 1, words.with(edit.word % words.length, edit.token).join(''));
    }
  }
  return lines.join('\r\n');
}

/** A candidate, complete or not, some with another line. */
export const candidateLine: Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('candidate:', 'a=candidate:', ''),
    fc.array(
      fc.constantFrom('1', 'udp', '2130706431', '127.0.0.1', '9', 'typ', 'host', ...TOKENS),
      {
        maxLength: 10,
      },
    ),
    fc.constantFrom('', '', '', '\r\n', '\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111', '\ra=ice-lite'),
  )
  .map(([start, parts, end]) => start + parts.join(' ') + end);
