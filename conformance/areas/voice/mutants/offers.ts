import type { Mutant } from '../../../engine/mutants/mutant.ts';
import { voiceMutant, editOffers, handleCalls, removeOfferLines } from './combinators.ts';
import type { VoiceTransformFactory } from '../../../engine/mutants/mutant.ts';

/** Replaces the matches of a pattern in the SDP of every offer. */
const replaceInOffers = (pattern: RegExp, replacement: string): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(pattern, replacement));

/** Mutants with one wrong line in the SDP offer (spec 4.9). */
export const voiceOfferMutants: readonly Mutant[] = [
  voiceMutant(
    'sdp-nonsense',
    'Sends an offer that is not SDP.',
    'VOICE-050',
    editOffers(() => 'call me'),
  ),
  voiceMutant(
    'sdp-video',
    'Offers only video.',
    'VOICE-050',
    replaceInOffers(/^m=audio/m, 'm=video'),
  ),
  voiceMutant(
    'sdp-port-0',
    'Disables the audio section with port 0.',
    'VOICE-050',
    replaceInOffers(/^m=audio \d+/m, 'm=audio 0'),
  ),
  voiceMutant(
    'sdp-plain',
    'Offers unencrypted audio.',
    'VOICE-051',
    replaceInOffers(/UDP\/TLS\/RTP\/SAVPF/, 'RTP/AVP'),
  ),
  voiceMutant(
    'sdp-no-fingerprint',
    'Omits the fingerprint.',
    'VOICE-052',
    removeOfferLines(/a=fingerprint/),
  ),
  voiceMutant(
    'sdp-other-fingerprint',
    'Sends the fingerprint of another certificate.',
    'VOICE-070',
    replaceInOffers(/^(a=fingerprint:\S+) .*$/gm, `$1 ${Array(32).fill('00').join(':')}`),
  ),
  voiceMutant('sdp-no-setup', 'Omits `a=setup`.', 'VOICE-053', removeOfferLines(/a=setup/)),
  voiceMutant(
    'sdp-holdconn',
    'Sends `a=setup:holdconn`.',
    'VOICE-053',
    replaceInOffers(/^a=setup:.*$/m, 'a=setup:holdconn'),
  ),
  voiceMutant(
    'sdp-active',
    'Sends `a=setup:active`.',
    'VOICE-054',
    replaceInOffers(/^a=setup:.*$/m, 'a=setup:active'),
  ),
  voiceMutant('sdp-no-ufrag', 'Omits `ice-ufrag`.', 'VOICE-055', removeOfferLines(/a=ice-ufrag/)),
  voiceMutant('sdp-no-pwd', 'Omits `ice-pwd`.', 'VOICE-055', removeOfferLines(/a=ice-pwd/)),
  voiceMutant(
    'sdp-one-channel',
    'Lists Opus with one channel.',
    'VOICE-056',
    replaceInOffers(/opus\/48000\/2/gi, 'opus/48000'),
  ),
  voiceMutant(
    'sdp-opus-16000',
    'Lists Opus with one channel and its sampling rate.',
    'VOICE-056',
    replaceInOffers(/opus\/48000\/2/gi, 'opus/16000/1'),
  ),
  voiceMutant(
    'sdp-opus-16000-2',
    'Lists Opus with its sampling rate but sends normal Opus.',
    'VOICE-056',
    handleCalls((ends) => ({
      fromSandbox: (text) => ends.toKit(text.replace(/opus\/48000\/2/gi, 'opus/16000/2')),
      fromKit: (text) => ends.toSandbox(text.replace(/opus\/16000\/2/gi, 'opus/48000/2')),
    })),
  ),
  voiceMutant(
    'sdp-pcmu',
    'Offers only G.711.',
    'VOICE-056',
    editOffers((sdp) => {
      const [, type = ''] = /^a=rtpmap:(\d+) opus/im.exec(sdp) ?? [];
      return sdp
        .replace(new RegExp(`^(m=audio \\d+ \\S+) ${type}`, 'm'), '$1 0')
        .replace(new RegExp(`^a=rtpmap:${type} .*$`, 'm'), 'a=rtpmap:0 PCMU/8000')
        .replace(new RegExp(`^a=(fmtp|rtcp-fb):${type} .*\\r\\n`, 'gm'), '');
    }),
  ),
  voiceMutant('sdp-no-mux', 'Omits `a=rtcp-mux`.', 'VOICE-057', removeOfferLines(/a=rtcp-mux/)),
  voiceMutant(
    'sdp-no-bundle',
    'Omits `a=group:BUNDLE`.',
    'VOICE-058',
    removeOfferLines(/a=group:BUNDLE/),
  ),
  voiceMutant(
    'sdp-other-bundle',
    'Bundles a section that does not exist.',
    'VOICE-058',
    replaceInOffers(/^a=group:BUNDLE.*$/m, 'a=group:BUNDLE video'),
  ),
  voiceMutant(
    'sdp-sendonly',
    'Offers `sendonly` audio.',
    'VOICE-059',
    replaceInOffers(/^a=sendrecv/m, 'a=sendonly'),
  ),
  voiceMutant(
    'sdp-recvonly',
    'Offers `recvonly` audio.',
    'VOICE-059',
    replaceInOffers(/^a=sendrecv/m, 'a=recvonly'),
  ),
];
