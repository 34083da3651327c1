import type { Mutant } from '../../../engine/mutants/mutant.ts';
import { calls, offers, onCalls, withoutLines } from './combinators.ts';
import type { VoiceFactory } from '../../../engine/mutants/call-transform.ts';

/** Puts another text in the place of what is found in every offer. */
const put = (found: RegExp, other: string): VoiceFactory =>
  offers((sdp) => sdp.replace(found, other));

/** Mutants of the offer, a line each (spec 4.9). */
export const voiceOfferMutants: readonly Mutant[] = [
  calls(
    'sdp-nonsense',
    'Offers what is no description.',
    'VOICE-050',
    offers(() => 'call me'),
  ),
  calls('sdp-video', 'Offers video alone.', 'VOICE-050', put(/^m=audio/m, 'm=video')),
  calls('sdp-port-0', 'Switches its audio off.', 'VOICE-050', put(/^m=audio \d+/m, 'm=audio 0')),
  calls(
    'sdp-plain',
    'Offers audio that is not encrypted.',
    'VOICE-051',
    put(/UDP\/TLS\/RTP\/SAVPF/, 'RTP/AVP'),
  ),
  calls('sdp-no-fingerprint', 'Has no fingerprint.', 'VOICE-052', withoutLines(/a=fingerprint/)),
  calls(
    'sdp-other-fingerprint',
    'Has the fingerprint of another certificate than it shows.',
    'VOICE-070',
    put(/^(a=fingerprint:\S+) .*$/gm, `$1 ${Array(32).fill('00').join(':')}`),
  ),
  calls('sdp-no-setup', 'Has no a=setup.', 'VOICE-053', withoutLines(/a=setup/)),
  calls(
    'sdp-holdconn',
    'Has a=setup:holdconn.',
    'VOICE-053',
    put(/^a=setup:.*$/m, 'a=setup:holdconn'),
  ),
  calls('sdp-active', 'Begins DTLS itself.', 'VOICE-054', put(/^a=setup:.*$/m, 'a=setup:active')),
  calls('sdp-no-ufrag', 'Has no ice-ufrag.', 'VOICE-055', withoutLines(/a=ice-ufrag/)),
  calls('sdp-no-pwd', 'Has no ice-pwd.', 'VOICE-055', withoutLines(/a=ice-pwd/)),
  calls(
    'sdp-one-channel',
    'Names Opus with one channel.',
    'VOICE-056',
    put(/opus\/48000\/2/gi, 'opus/48000'),
  ),
  calls(
    'sdp-opus-16000',
    'Names Opus with its sampling rate.',
    'VOICE-056',
    put(/opus\/48000\/2/gi, 'opus/16000/1'),
  ),
  calls(
    'sdp-opus-16000-2',
    'Names Opus with its sampling rate, and sends it all the same.',
    'VOICE-056',
    onCalls((ends) => ({
      fromSandbox: (text) => ends.toKit(text.replace(/opus\/48000\/2/gi, 'opus/16000/2')),
      fromKit: (text) => ends.toSandbox(text.replace(/opus\/16000\/2/gi, 'opus/48000/2')),
    })),
  ),
  calls(
    'sdp-pcmu',
    'Offers G.711 alone.',
    'VOICE-056',
    offers((sdp) => {
      const [, type = ''] = /^a=rtpmap:(\d+) opus/im.exec(sdp) ?? [];
      return sdp
        .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
        .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
        .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\\r\\n`, 'gm'), '');
    }),
  ),
  calls('sdp-no-mux', 'Has no rtcp-mux.', 'VOICE-057', withoutLines(/a=rtcp-mux/)),
  calls('sdp-no-bundle', 'Bundles nothing.', 'VOICE-058', withoutLines(/a=group:BUNDLE/)),
  calls(
    'sdp-other-bundle',
    'Bundles what is not there.',
    'VOICE-058',
    put(/^a=group:BUNDLE.*$/m, 'a=group:BUNDLE video'),
  ),
  calls('sdp-sendonly', 'Does not listen.', 'VOICE-059', put(/^a=sendrecv/m, 'a=sendonly')),
  calls('sdp-recvonly', 'Does not speak.', 'VOICE-059', put(/^a=sendrecv/m, 'a=recvonly')),
];
