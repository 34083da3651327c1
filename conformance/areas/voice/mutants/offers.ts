import type { Mutant } from '../../../engine/mutants/mutant.ts';
import { voiceMutant, editOffers, handleCalls, removeOfferLines } from './combinators.ts';
import type { VoiceTransformFactory } from '../../../engine/mutants/call-transform.ts';

/** Puts another text in the place of what is found in every offer. */
const put = (found: RegExp, other: string): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(found, other));

/** Mutants of the offer, a line each (spec 4.9). */
export const voiceOfferMutants: readonly Mutant[] = [
  voiceMutant(
    'sdp-nonsense',
    'Offers what is no description.',
    'VOICE-050',
    editOffers(() => 'call me'),
  ),
  voiceMutant('sdp-video', 'Offers video alone.', 'VOICE-050', put(/^m=audio/m, 'm=video')),
  voiceMutant('sdp-port-0', 'Switches its audio off.', 'VOICE-050', put(/^m=audio \d+/m, 'm=audio 0')),
  voiceMutant(
    'sdp-plain',
    'Offers audio that is not encrypted.',
    'VOICE-051',
    put(/UDP\/TLS\/RTP\/SAVPF/, 'RTP/AVP'),
  ),
  voiceMutant('sdp-no-fingerprint', 'Has no fingerprint.', 'VOICE-052', removeOfferLines(/a=fingerprint/)),
  voiceMutant(
    'sdp-other-fingerprint',
    'Has the fingerprint of another certificate than it shows.',
    'VOICE-070',
    put(/^(a=fingerprint:\S+) .*$/gm, `$1 ${Array(32).fill('00').join(':')}`),
  ),
  voiceMutant('sdp-no-setup', 'Has no a=setup.', 'VOICE-053', removeOfferLines(/a=setup/)),
  voiceMutant(
    'sdp-holdconn',
    'Has a=setup:holdconn.',
    'VOICE-053',
    put(/^a=setup:.*$/m, 'a=setup:holdconn'),
  ),
  voiceMutant('sdp-active', 'Begins DTLS itself.', 'VOICE-054', put(/^a=setup:.*$/m, 'a=setup:active')),
  voiceMutant('sdp-no-ufrag', 'Has no ice-ufrag.', 'VOICE-055', removeOfferLines(/a=ice-ufrag/)),
  voiceMutant('sdp-no-pwd', 'Has no ice-pwd.', 'VOICE-055', removeOfferLines(/a=ice-pwd/)),
  voiceMutant(
    'sdp-one-channel',
    'Names Opus with one channel.',
    'VOICE-056',
    put(/opus\/48000\/2/gi, 'opus/48000'),
  ),
  voiceMutant(
    'sdp-opus-16000',
    'Names Opus with its sampling rate.',
    'VOICE-056',
    put(/opus\/48000\/2/gi, 'opus/16000/1'),
  ),
  voiceMutant(
    'sdp-opus-16000-2',
    'Names Opus with its sampling rate, and sends it all the same.',
    'VOICE-056',
    handleCalls((ends) => ({
      fromSandbox: (text) => ends.toKit(text.replace(/opus\/48000\/2/gi, 'opus/16000/2')),
      fromKit: (text) => ends.toSandbox(text.replace(/opus\/16000\/2/gi, 'opus/48000/2')),
    })),
  ),
  voiceMutant(
    'sdp-pcmu',
    'Offers G.711 alone.',
    'VOICE-056',
    editOffers((sdp) => {
      const [, type = ''] = /^a=rtpmap:(\d+) opus/im.exec(sdp) ?? [];
      return sdp
        .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
        .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
        .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\\r\\n`, 'gm'), '');
    }),
  ),
  voiceMutant('sdp-no-mux', 'Has no rtcp-mux.', 'VOICE-057', removeOfferLines(/a=rtcp-mux/)),
  voiceMutant('sdp-no-bundle', 'Bundles nothing.', 'VOICE-058', removeOfferLines(/a=group:BUNDLE/)),
  voiceMutant(
    'sdp-other-bundle',
    'Bundles what is not there.',
    'VOICE-058',
    put(/^a=group:BUNDLE.*$/m, 'a=group:BUNDLE video'),
  ),
  voiceMutant('sdp-sendonly', 'Does not listen.', 'VOICE-059', put(/^a=sendrecv/m, 'a=sendonly')),
  voiceMutant('sdp-recvonly', 'Does not speak.', 'VOICE-059', put(/^a=sendrecv/m, 'a=recvonly')),
];
