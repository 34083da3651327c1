import type { MessageName } from '../validate.ts';

/** A message of the voice WebSocket. */
export interface VoiceMessage {
  name: MessageName;
  /** The sender of the message. */
  sender: 'service' | 'sandbox';
  /** The operation id. */
  operation: string;
  summary: string;
  /** Whether the message is not in the specification. */
  isExtension?: true;
}

/** The voice WebSocket of a sandbox (spec 4.9, 6). */
export const voiceChannel = {
  path: '/voice',
  /** The required subprotocol (spec 4.9, 5). */
  protocol: 'voice-agent',
  messages: [
    {
      name: 'StartCall',
      sender: 'service',
      operation: 'receiveStartCall',
      summary: 'Starts a call; the first message on the WebSocket',
    },
    {
      name: 'CallReady',
      sender: 'sandbox',
      operation: 'sendCallReady',
      summary: 'Responds to start_call with the WebRTC offer',
    },
    {
      name: 'ConversationUpdate',
      sender: 'sandbox',
      operation: 'sendConversationUpdate',
      summary: 'Reports the transcript of a turn',
    },
    {
      name: 'VoiceError',
      sender: 'sandbox',
      operation: 'sendError',
      summary: 'Reports why a call failed',
    },
    {
      name: 'WebrtcAnswer',
      sender: 'service',
      operation: 'receiveWebrtcAnswer',
      summary: 'Answers the WebRTC offer',
      isExtension: true,
    },
    {
      name: 'IceCandidate',
      sender: 'service',
      operation: 'receiveIceCandidate',
      summary: 'Adds an ICE candidate of the caller',
      isExtension: true,
    },
    {
      name: 'Caption',
      sender: 'service',
      operation: 'receiveCaption',
      summary: 'Contains the words of the caller',
      isExtension: true,
    },
    {
      name: 'EndCall',
      sender: 'service',
      operation: 'receiveEndCall',
      summary: 'Ends a call',
      isExtension: true,
    },
  ],
} as const satisfies { path: string; protocol: string; messages: readonly VoiceMessage[] };

/** What a caller may send, by its type; an agent with captions also knows `caption`. */
export const callerMessageNames: Readonly<Record<string, MessageName>> = {
  start_call: 'StartCall',
  webrtc_answer: 'WebrtcAnswer',
  ice_candidate: 'IceCandidate',
  end_call: 'EndCall',
};
