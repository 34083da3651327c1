// Generated from schemas/ by src/contract/generate.ts, do not edit.
// @ts-nocheck
/* eslint-disable */
"use strict";
export const AgentFault = validate10;
const schema11 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"agent-fault.schema.json","title":"AgentFault","$comment":"our extension; PUT /__admin/faults of the reference agent","description":"A fault that the reference agent shows on demand.","x-extension":true,"type":"object","required":["kind"],"additionalProperties":false,"properties":{"kind":{"type":"string","enum":["latency","rate_limit","server_error","degraded","unhealthy","health_check_failed","malformed_body","dropped_connection","no_media","silent_media","wrong_codec","bad_sdp","jitter","late_reply","buffered_audio","dropped_call"]},"route":{"description":"Where it shows; everywhere that it makes sense when left out.","type":"string","enum":["chat","health","users","voice"]},"latency":{"title":"LatencyProfile","description":"Milliseconds, drawn from the seed between the two bounds: before the answer or the offer (latency), of each packet (jitter), before a reply is spoken (late_reply), that audio is held back inside (buffered_audio, 600 when left out), until a call is dropped (dropped_call, 1000 when left out).","type":"object","required":["min_ms","max_ms"],"additionalProperties":false,"properties":{"min_ms":{"type":"integer","minimum":0,"maximum":600000},"max_ms":{"type":"integer","minimum":0,"maximum":600000}}},"retry_after_s":{"description":"Seconds; the Retry-After of a rate_limit.","type":"integer","minimum":0,"maximum":86400},"times":{"description":"Show it for so many requests, then stop. For good when left out.","type":"integer","minimum":1,"maximum":1000000},"ttl_ms":{"description":"Milliseconds after which it stops by itself.","type":"integer","minimum":1,"maximum":86400000}},"examples":[{"kind":"rate_limit","route":"chat","retry_after_s":1,"times":3},{"kind":"latency","latency":{"min_ms":100,"max_ms":300},"ttl_ms":60000},{"kind":"late_reply","latency":{"min_ms":300,"max_ms":300}}],"x-near-misses":[{"breaks":"/kind","value":{"times":3}},{"breaks":"/kind","value":{"kind":"explode"}},{"breaks":"/times","value":{"kind":"unhealthy","times":0}}]};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="agent-fault.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kind === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "kind") || (key0 === "route")) || (key0 === "latency")) || (key0 === "retry_after_s")) || (key0 === "times")) || (key0 === "ttl_ms"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.kind !== undefined){
let data0 = data.kind;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((((((((((((((((data0 === "latency") || (data0 === "rate_limit")) || (data0 === "server_error")) || (data0 === "degraded")) || (data0 === "unhealthy")) || (data0 === "health_check_failed")) || (data0 === "malformed_body")) || (data0 === "dropped_connection")) || (data0 === "no_media")) || (data0 === "silent_media")) || (data0 === "wrong_codec")) || (data0 === "bad_sdp")) || (data0 === "jitter")) || (data0 === "late_reply")) || (data0 === "buffered_audio")) || (data0 === "dropped_call"))){
const err3 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema11.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.route !== undefined){
let data1 = data.route;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/route",schemaPath:"#/properties/route/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!((((data1 === "chat") || (data1 === "health")) || (data1 === "users")) || (data1 === "voice"))){
const err5 = {instancePath:instancePath+"/route",schemaPath:"#/properties/route/enum",keyword:"enum",params:{allowedValues: schema11.properties.route.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.latency !== undefined){
let data2 = data.latency;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.min_ms === undefined){
const err6 = {instancePath:instancePath+"/latency",schemaPath:"#/properties/latency/required",keyword:"required",params:{missingProperty: "min_ms"},message:"must have required property '"+"min_ms"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2.max_ms === undefined){
const err7 = {instancePath:instancePath+"/latency",schemaPath:"#/properties/latency/required",keyword:"required",params:{missingProperty: "max_ms"},message:"must have required property '"+"max_ms"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
for(const key1 in data2){
if(!((key1 === "min_ms") || (key1 === "max_ms"))){
const err8 = {instancePath:instancePath+"/latency",schemaPath:"#/properties/latency/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data2.min_ms !== undefined){
let data3 = data2.min_ms;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err9 = {instancePath:instancePath+"/latency/min_ms",schemaPath:"#/properties/latency/properties/min_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 600000 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/latency/min_ms",schemaPath:"#/properties/latency/properties/min_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 600000},message:"must be <= 600000"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err11 = {instancePath:instancePath+"/latency/min_ms",schemaPath:"#/properties/latency/properties/min_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data2.max_ms !== undefined){
let data4 = data2.max_ms;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err12 = {instancePath:instancePath+"/latency/max_ms",schemaPath:"#/properties/latency/properties/max_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 600000 || isNaN(data4)){
const err13 = {instancePath:instancePath+"/latency/max_ms",schemaPath:"#/properties/latency/properties/max_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 600000},message:"must be <= 600000"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err14 = {instancePath:instancePath+"/latency/max_ms",schemaPath:"#/properties/latency/properties/max_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
}
else {
const err15 = {instancePath:instancePath+"/latency",schemaPath:"#/properties/latency/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.retry_after_s !== undefined){
let data5 = data.retry_after_s;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err16 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 86400 || isNaN(data5)){
const err17 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400},message:"must be <= 86400"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(data5 < 0 || isNaN(data5)){
const err18 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.times !== undefined){
let data6 = data.times;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err19 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 1000000 || isNaN(data6)){
const err20 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(data6 < 1 || isNaN(data6)){
const err21 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data.ttl_ms !== undefined){
let data7 = data.ttl_ms;
if(!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))){
const err22 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 > 86400000 || isNaN(data7)){
const err23 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400000},message:"must be <= 86400000"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data7 < 1 || isNaN(data7)){
const err24 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
}
else {
const err25 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const AudioConfig = validate11;
const schema12 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"audio-config.schema.json","title":"AudioConfig","$comment":"spec 2.11","description":"The audio that the service offers to speak.","type":"object","required":["codec"],"properties":{"codec":{"description":"Name of the codec, e.g. opus.","type":"string"},"sampleRate":{"description":"Hertz, e.g. 48000.","type":"integer"}},"examples":[{"codec":"opus"},{"codec":"opus","sampleRate":48000}],"x-near-misses":[{"breaks":"/codec","value":{"sampleRate":48000}},{"breaks":"/sampleRate","value":{"codec":"opus","sampleRate":"48 kHz"}}]};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="audio-config.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.codec === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "codec"},message:"must have required property '"+"codec"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.codec !== undefined){
if(typeof data.codec !== "string"){
const err1 = {instancePath:instancePath+"/codec",schemaPath:"#/properties/codec/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.sampleRate !== undefined){
let data1 = data.sampleRate;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err2 = {instancePath:instancePath+"/sampleRate",schemaPath:"#/properties/sampleRate/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate11.errors = vErrors;
return errors === 0;
}

export const CallReady = validate12;
const schema13 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"call-ready.schema.json","title":"CallReady","$comment":"spec 6","description":"Sandbox to service: the call is set up, here is the WebRTC offer.","type":"object","required":["type","call_id","webrtc_offer"],"properties":{"type":{"type":"string","const":"call_ready"},"session_id":{"type":"string"},"call_id":{"type":"string"},"webrtc_offer":{"title":"WebrtcOffer","type":"object","required":["type","sdp"],"properties":{"type":{"type":"string","const":"offer"},"sdp":{"type":"string"}}},"metadata":{"title":"CallReadyMetadata","type":"object","properties":{"agent_ready":{"type":"boolean"},"audio_codec":{"type":"string"},"estimated_setup_time":{"description":"In words; no unit is set.","type":"string"}}},"evaluation_metadata":{"title":"CallReadyHints","type":"object","properties":{"connection_quality":{"type":"string"},"setup_success":{"type":"boolean"},"audio_path_established":{"type":"boolean"}}}},"examples":[{"type":"call_ready","session_id":"session-1","call_id":"call-1","webrtc_offer":{"type":"offer","sdp":"v=0\r\n"},"metadata":{"agent_ready":true,"audio_codec":"opus","estimated_setup_time":"200 ms"},"evaluation_metadata":{"connection_quality":"good","setup_success":true,"audio_path_established":false}}],"x-near-misses":[{"breaks":"/call_id","value":{"type":"call_ready","webrtc_offer":{"type":"offer","sdp":"v=0\r\n"}}},{"breaks":"/webrtc_offer/type","value":{"type":"call_ready","call_id":"call-1","webrtc_offer":{"type":"answer","sdp":"v=0\r\n"}}}]};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="call-ready.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.call_id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "call_id"},message:"must have required property '"+"call_id"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.webrtc_offer === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "webrtc_offer"},message:"must have required property '"+"webrtc_offer"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if("call_ready" !== data0){
const err4 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "call_ready"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err5 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.call_id !== undefined){
if(typeof data.call_id !== "string"){
const err6 = {instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.webrtc_offer !== undefined){
let data3 = data.webrtc_offer;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.type === undefined){
const err7 = {instancePath:instancePath+"/webrtc_offer",schemaPath:"#/properties/webrtc_offer/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3.sdp === undefined){
const err8 = {instancePath:instancePath+"/webrtc_offer",schemaPath:"#/properties/webrtc_offer/required",keyword:"required",params:{missingProperty: "sdp"},message:"must have required property '"+"sdp"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data3.type !== undefined){
let data4 = data3.type;
if(typeof data4 !== "string"){
const err9 = {instancePath:instancePath+"/webrtc_offer/type",schemaPath:"#/properties/webrtc_offer/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if("offer" !== data4){
const err10 = {instancePath:instancePath+"/webrtc_offer/type",schemaPath:"#/properties/webrtc_offer/properties/type/const",keyword:"const",params:{allowedValue: "offer"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data3.sdp !== undefined){
if(typeof data3.sdp !== "string"){
const err11 = {instancePath:instancePath+"/webrtc_offer/sdp",schemaPath:"#/properties/webrtc_offer/properties/sdp/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/webrtc_offer",schemaPath:"#/properties/webrtc_offer/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.metadata !== undefined){
let data6 = data.metadata;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.agent_ready !== undefined){
if(typeof data6.agent_ready !== "boolean"){
const err13 = {instancePath:instancePath+"/metadata/agent_ready",schemaPath:"#/properties/metadata/properties/agent_ready/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data6.audio_codec !== undefined){
if(typeof data6.audio_codec !== "string"){
const err14 = {instancePath:instancePath+"/metadata/audio_codec",schemaPath:"#/properties/metadata/properties/audio_codec/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data6.estimated_setup_time !== undefined){
if(typeof data6.estimated_setup_time !== "string"){
const err15 = {instancePath:instancePath+"/metadata/estimated_setup_time",schemaPath:"#/properties/metadata/properties/estimated_setup_time/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.evaluation_metadata !== undefined){
let data10 = data.evaluation_metadata;
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
if(data10.connection_quality !== undefined){
if(typeof data10.connection_quality !== "string"){
const err17 = {instancePath:instancePath+"/evaluation_metadata/connection_quality",schemaPath:"#/properties/evaluation_metadata/properties/connection_quality/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data10.setup_success !== undefined){
if(typeof data10.setup_success !== "boolean"){
const err18 = {instancePath:instancePath+"/evaluation_metadata/setup_success",schemaPath:"#/properties/evaluation_metadata/properties/setup_success/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data10.audio_path_established !== undefined){
if(typeof data10.audio_path_established !== "boolean"){
const err19 = {instancePath:instancePath+"/evaluation_metadata/audio_path_established",schemaPath:"#/properties/evaluation_metadata/properties/audio_path_established/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/evaluation_metadata",schemaPath:"#/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
validate12.errors = vErrors;
return errors === 0;
}

export const ChatRequest = validate13;
const schema14 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"chat-request.schema.json","title":"ChatRequest","$comment":"spec 2.7","description":"What the service sends to POST /v1/chat/completions. Never carries tool definitions: the agent runs its own tools.","type":"object","required":["messages"],"properties":{"messages":{"description":"The conversation so far, oldest first.","type":"array","items":{"title":"ChatMessage","type":"object","required":["role","content"],"properties":{"role":{"description":"Who speaks.","type":"string","enum":["system","user","assistant"]},"content":{"description":"What is said.","type":"string"}}}},"user_id":{"description":"Id of the simulated user.","type":"string"},"session_id":{"description":"Id of the session; echoed by the reply.","type":"string"},"metadata":{"title":"ScenarioMetadata","description":"Free-form context of the scenario; unknown keys are legal.","type":"object","properties":{"scenario_id":{"type":"string"},"persona":{"type":"string"},"time_of_day":{"type":"string"}}}},"examples":[{"messages":[{"role":"user","content":"Where is my order?"}]},{"messages":[{"role":"system","content":"The customer calls in the evening."},{"role":"user","content":"Where is order A-1001?"},{"role":"assistant","content":"It is on its way."},{"role":"user","content":"When does it arrive?"}],"user_id":"sim_user_k3v9","session_id":"session-1","metadata":{"scenario_id":"late-parcel","persona":"impatient","time_of_day":"evening","stress_level":4}}],"x-near-misses":[{"breaks":"/messages","value":{"session_id":"session-1"}},{"breaks":"/messages","value":{"messages":"Where is my order?"}},{"breaks":"/messages/0/role","value":{"messages":[{"content":"Hello"}]}},{"breaks":"/messages/0/role","value":{"messages":[{"role":"tool","content":"Hello"}]}},{"breaks":"/messages/0/content","value":{"messages":[{"role":"user"}]}},{"breaks":"/messages/0/content","value":{"messages":[{"role":"user","content":42}]}},{"breaks":"/metadata","value":{"messages":[{"role":"user","content":"Hello"}],"metadata":"evening"}}]};

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="chat-request.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.messages === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "messages"},message:"must have required property '"+"messages"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.messages !== undefined){
let data0 = data.messages;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.role === undefined){
const err1 = {instancePath:instancePath+"/messages/" + i0,schemaPath:"#/properties/messages/items/required",keyword:"required",params:{missingProperty: "role"},message:"must have required property '"+"role"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data1.content === undefined){
const err2 = {instancePath:instancePath+"/messages/" + i0,schemaPath:"#/properties/messages/items/required",keyword:"required",params:{missingProperty: "content"},message:"must have required property '"+"content"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1.role !== undefined){
let data2 = data1.role;
if(typeof data2 !== "string"){
const err3 = {instancePath:instancePath+"/messages/" + i0+"/role",schemaPath:"#/properties/messages/items/properties/role/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!(((data2 === "system") || (data2 === "user")) || (data2 === "assistant"))){
const err4 = {instancePath:instancePath+"/messages/" + i0+"/role",schemaPath:"#/properties/messages/items/properties/role/enum",keyword:"enum",params:{allowedValues: schema14.properties.messages.items.properties.role.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.content !== undefined){
if(typeof data1.content !== "string"){
const err5 = {instancePath:instancePath+"/messages/" + i0+"/content",schemaPath:"#/properties/messages/items/properties/content/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/messages/" + i0,schemaPath:"#/properties/messages/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/messages",schemaPath:"#/properties/messages/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.user_id !== undefined){
if(typeof data.user_id !== "string"){
const err8 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err9 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.metadata !== undefined){
let data6 = data.metadata;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.scenario_id !== undefined){
if(typeof data6.scenario_id !== "string"){
const err10 = {instancePath:instancePath+"/metadata/scenario_id",schemaPath:"#/properties/metadata/properties/scenario_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data6.persona !== undefined){
if(typeof data6.persona !== "string"){
const err11 = {instancePath:instancePath+"/metadata/persona",schemaPath:"#/properties/metadata/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data6.time_of_day !== undefined){
if(typeof data6.time_of_day !== "string"){
const err12 = {instancePath:instancePath+"/metadata/time_of_day",schemaPath:"#/properties/metadata/properties/time_of_day/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
validate13.errors = vErrors;
return errors === 0;
}

export const ChatResponse = validate14;
const schema15 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"chat-response.schema.json","title":"ChatResponse","$comment":"spec 2.8","description":"What the sandbox answers to a chat request.","type":"object","required":["choices"],"properties":{"choices":{"description":"The agent's reply, usually as the only entry.","type":"array","minItems":1,"items":{"title":"ChatChoice","type":"object","required":["message"],"properties":{"index":{"description":"Place in the list, typically 0.","type":"integer"},"message":{"title":"AgentMessage","type":"object","required":["role","content"],"properties":{"role":{"type":"string","const":"assistant"},"content":{"description":"What the agent says; a string also beside tool calls.","type":"string"},"tool_calls":{"description":"Every tool call of this reply with its result, in order.","type":"array","items":{"$ref":"tool-call.schema.json"}}}},"finish_reason":{"description":"Why the reply ends, typically stop.","type":"string"}}}},"session_id":{"description":"The session id of the request.","type":"string"},"chat_id":{"description":"The agent's own id of the conversation.","type":"string"},"metadata":{"title":"ReplyMetadata","type":"object","properties":{"agent_confidence":{"description":"Fraction, 0 to 1.","type":"number","minimum":0,"maximum":1},"response_time_ms":{"description":"Milliseconds.","type":"integer"},"tools_used":{"description":"Names of the tools used.","type":"array","items":{"type":"string"}}}},"evaluation_metadata":{"title":"EvaluationHints","description":"Free-form hints for the scoring; no key is required and none is wrong.","type":"object"}},"examples":[{"choices":[{"message":{"role":"assistant","content":"Hello, how can I help?"}}]},{"choices":[{"index":0,"message":{"role":"assistant","content":"Order A-1001 was shipped yesterday.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look_up_order","arguments":"{\"order_id\":\"A-1001\"}","result":{"status":"shipped"}}}]},"finish_reason":"stop"}],"session_id":"session-1","chat_id":"chat-1","metadata":{"agent_confidence":0.92,"response_time_ms":412,"tools_used":["look_up_order"]},"evaluation_metadata":{"order_found":true,"tone":"friendly","resolution_step":1}}],"x-near-misses":[{"breaks":"/choices","value":{"reply":"Hello"}},{"breaks":"/choices","value":{"choices":[]}},{"breaks":"/choices/0/message","value":{"choices":[{"text":"Hello"}]}},{"breaks":"/choices/0/message/role","value":{"choices":[{"message":{"role":"agent","content":"Hello"}}]}},{"breaks":"/choices/0/message/content","value":{"choices":[{"message":{"role":"assistant","content":null}}]}},{"breaks":"/choices/0/index","value":{"choices":[{"index":"0","message":{"role":"assistant","content":""}}]}},{"breaks":"/metadata/agent_confidence","value":{"choices":[{"message":{"role":"assistant","content":"Hello"}}],"metadata":{"agent_confidence":92}}},{"breaks":"/metadata/response_time_ms","value":{"choices":[{"message":{"role":"assistant","content":"Hello"}}],"metadata":{"response_time_ms":412.5}}}]};
const schema16 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"tool-call.schema.json","title":"ToolCall","$comment":"spec 2.8","description":"A tool that the agent ran while it made its reply, with what the tool gave back.","type":"object","required":["id","type","function"],"properties":{"id":{"description":"Id of the call.","type":"string"},"type":{"description":"The only kind of tool there is.","type":"string","const":"function"},"function":{"title":"ToolFunction","type":"object","required":["name","arguments","result"],"properties":{"name":{"description":"Name of the tool.","type":"string"},"arguments":{"description":"What the tool was called with: JSON, encoded as a string.","type":"string","contentMediaType":"application/json"},"result":{"description":"What the tool gave back, as it is: not encoded.","type":"object"}}}},"examples":[{"id":"call_1","type":"function","function":{"name":"look_up_order","arguments":"{\"order_id\":\"A-1001\"}","result":{"status":"shipped"}}}],"x-near-misses":[{"breaks":"/function/arguments","value":{"id":"call_1","type":"function","function":{"name":"look_up_order","arguments":{"order_id":"A-1001"},"result":{}}}},{"breaks":"/function/result","value":{"id":"call_1","type":"function","function":{"name":"look_up_order","arguments":"{}","result":"shipped"}}},{"breaks":"/function/result","value":{"id":"call_1","type":"function","function":{"name":"look_up_order","arguments":"{}"}}},{"breaks":"/type","value":{"id":"call_1","type":"tool","function":{"name":"look_up_order","arguments":"{}","result":{}}}}]};

function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="chat-response.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.choices === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "choices"},message:"must have required property '"+"choices"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.choices !== undefined){
let data0 = data.choices;
if(Array.isArray(data0)){
if(data0.length < 1){
const err1 = {instancePath:instancePath+"/choices",schemaPath:"#/properties/choices/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.message === undefined){
const err2 = {instancePath:instancePath+"/choices/" + i0,schemaPath:"#/properties/choices/items/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1.index !== undefined){
let data2 = data1.index;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err3 = {instancePath:instancePath+"/choices/" + i0+"/index",schemaPath:"#/properties/choices/items/properties/index/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data1.message !== undefined){
let data3 = data1.message;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.role === undefined){
const err4 = {instancePath:instancePath+"/choices/" + i0+"/message",schemaPath:"#/properties/choices/items/properties/message/required",keyword:"required",params:{missingProperty: "role"},message:"must have required property '"+"role"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data3.content === undefined){
const err5 = {instancePath:instancePath+"/choices/" + i0+"/message",schemaPath:"#/properties/choices/items/properties/message/required",keyword:"required",params:{missingProperty: "content"},message:"must have required property '"+"content"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data3.role !== undefined){
let data4 = data3.role;
if(typeof data4 !== "string"){
const err6 = {instancePath:instancePath+"/choices/" + i0+"/message/role",schemaPath:"#/properties/choices/items/properties/message/properties/role/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if("assistant" !== data4){
const err7 = {instancePath:instancePath+"/choices/" + i0+"/message/role",schemaPath:"#/properties/choices/items/properties/message/properties/role/const",keyword:"const",params:{allowedValue: "assistant"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data3.content !== undefined){
if(typeof data3.content !== "string"){
const err8 = {instancePath:instancePath+"/choices/" + i0+"/message/content",schemaPath:"#/properties/choices/items/properties/message/properties/content/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data3.tool_calls !== undefined){
let data6 = data3.tool_calls;
if(Array.isArray(data6)){
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
let data7 = data6[i1];
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.id === undefined){
const err9 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1,schemaPath:"tool-call.schema.json/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data7.type === undefined){
const err10 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1,schemaPath:"tool-call.schema.json/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data7.function === undefined){
const err11 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1,schemaPath:"tool-call.schema.json/required",keyword:"required",params:{missingProperty: "function"},message:"must have required property '"+"function"+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data7.id !== undefined){
if(typeof data7.id !== "string"){
const err12 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/id",schemaPath:"tool-call.schema.json/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data7.type !== undefined){
let data9 = data7.type;
if(typeof data9 !== "string"){
const err13 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/type",schemaPath:"tool-call.schema.json/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if("function" !== data9){
const err14 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/type",schemaPath:"tool-call.schema.json/properties/type/const",keyword:"const",params:{allowedValue: "function"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data7.function !== undefined){
let data10 = data7.function;
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
if(data10.name === undefined){
const err15 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function",schemaPath:"tool-call.schema.json/properties/function/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(data10.arguments === undefined){
const err16 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function",schemaPath:"tool-call.schema.json/properties/function/required",keyword:"required",params:{missingProperty: "arguments"},message:"must have required property '"+"arguments"+"'"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data10.result === undefined){
const err17 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function",schemaPath:"tool-call.schema.json/properties/function/required",keyword:"required",params:{missingProperty: "result"},message:"must have required property '"+"result"+"'"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(data10.name !== undefined){
if(typeof data10.name !== "string"){
const err18 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function/name",schemaPath:"tool-call.schema.json/properties/function/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data10.arguments !== undefined){
if(typeof data10.arguments !== "string"){
const err19 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function/arguments",schemaPath:"tool-call.schema.json/properties/function/properties/arguments/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data10.result !== undefined){
let data13 = data10.result;
if(!(data13 && typeof data13 == "object" && !Array.isArray(data13))){
const err20 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function/result",schemaPath:"tool-call.schema.json/properties/function/properties/result/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1+"/function",schemaPath:"tool-call.schema.json/properties/function/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls/" + i1,schemaPath:"tool-call.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/choices/" + i0+"/message/tool_calls",schemaPath:"#/properties/choices/items/properties/message/properties/tool_calls/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
else {
const err24 = {instancePath:instancePath+"/choices/" + i0+"/message",schemaPath:"#/properties/choices/items/properties/message/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data1.finish_reason !== undefined){
if(typeof data1.finish_reason !== "string"){
const err25 = {instancePath:instancePath+"/choices/" + i0+"/finish_reason",schemaPath:"#/properties/choices/items/properties/finish_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/choices/" + i0,schemaPath:"#/properties/choices/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
else {
const err27 = {instancePath:instancePath+"/choices",schemaPath:"#/properties/choices/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err28 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.chat_id !== undefined){
if(typeof data.chat_id !== "string"){
const err29 = {instancePath:instancePath+"/chat_id",schemaPath:"#/properties/chat_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.metadata !== undefined){
let data17 = data.metadata;
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
if(data17.agent_confidence !== undefined){
let data18 = data17.agent_confidence;
if((typeof data18 == "number") && (isFinite(data18))){
if(data18 > 1 || isNaN(data18)){
const err30 = {instancePath:instancePath+"/metadata/agent_confidence",schemaPath:"#/properties/metadata/properties/agent_confidence/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(data18 < 0 || isNaN(data18)){
const err31 = {instancePath:instancePath+"/metadata/agent_confidence",schemaPath:"#/properties/metadata/properties/agent_confidence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/metadata/agent_confidence",schemaPath:"#/properties/metadata/properties/agent_confidence/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data17.response_time_ms !== undefined){
let data19 = data17.response_time_ms;
if(!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))){
const err33 = {instancePath:instancePath+"/metadata/response_time_ms",schemaPath:"#/properties/metadata/properties/response_time_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data17.tools_used !== undefined){
let data20 = data17.tools_used;
if(Array.isArray(data20)){
const len2 = data20.length;
for(let i2=0; i2<len2; i2++){
if(typeof data20[i2] !== "string"){
const err34 = {instancePath:instancePath+"/metadata/tools_used/" + i2,schemaPath:"#/properties/metadata/properties/tools_used/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
}
else {
const err35 = {instancePath:instancePath+"/metadata/tools_used",schemaPath:"#/properties/metadata/properties/tools_used/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
else {
const err36 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.evaluation_metadata !== undefined){
let data22 = data.evaluation_metadata;
if(!(data22 && typeof data22 == "object" && !Array.isArray(data22))){
const err37 = {instancePath:instancePath+"/evaluation_metadata",schemaPath:"#/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
else {
const err38 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
validate14.errors = vErrors;
return errors === 0;
}

export const CheckReport = validate15;
const schema17 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"check-report.schema.json","title":"CheckReport","$comment":"ours; what sandbox-kit check --json writes","description":"The judgement of a check run. Keys may be added in later versions; none is renamed or removed within a major version.","type":"object","required":["verdict","exitCode","kitVersion","suite","target","seed","startedAt","endedAt","counts","dialect","waived","requirements","causes"],"properties":{"verdict":{"title":"RunVerdict","type":"string","enum":["conforming","not-conforming","not-judged"]},"exitCode":{"type":"integer","enum":[0,1,3,70]},"kitVersion":{"type":"string"},"suite":{"type":"string"},"target":{"type":"string"},"seed":{"type":"string"},"startedAt":{"type":"string","format":"iso8601"},"endedAt":{"type":"string","format":"iso8601"},"gate":{"title":"FailedGate","description":"The one cause for which nothing could be judged.","type":"object","required":["id","says","cure","evidence"],"properties":{"id":{"type":"string"},"says":{"type":"string"},"cure":{"type":"string"},"evidence":{"$ref":"#/definitions/evidence"}}},"counts":{"title":"VerdictCounts","description":"How many requirements got each verdict.","type":"object","additionalProperties":{"type":"integer"}},"dialect":{"title":"Dialect","description":"What this sandbox does where the specification is silent.","type":"object","additionalProperties":{"type":"string"}},"waived":{"description":"Rules that were waived, and why.","type":"array","items":{"type":"string"}},"staleBaseline":{"description":"Ids of the baseline whose requirement is met by now: they are to be taken out, and the run exits with 1 until then.","type":"array","items":{"type":"string"}},"requirements":{"type":"array","items":{"title":"RequirementVerdict","type":"object","required":["id","area","level","section","statements","verdict","says","evidence"],"properties":{"id":{"type":"string"},"area":{"type":"string"},"level":{"$ref":"#/definitions/level"},"section":{"description":"Section of the specification.","type":"string"},"statements":{"description":"Numbered statements of the specification that it covers.","type":"array","items":{"type":"string"}},"verdict":{"$ref":"#/definitions/verdict"},"says":{"type":"string"},"accepted":{"description":"The baseline's comment on why it is accepted that this is not met; it then does not count against the run.","type":"string"},"reason":{"description":"Why it was not judged, in words.","type":"string"},"expected":{"type":"string"},"received":{"type":"string"},"pointer":{"description":"JSON pointer into the body of the first finding's answer.","type":"string"},"hint":{"type":"string"},"curl":{"description":"Sends the first finding's request again.","type":"string"},"findings":{"description":"How many places are wrong.","type":"integer"},"evidence":{"$ref":"#/definitions/evidence"}}}},"calls":{"description":"The calls that were made, in the order of their beginning; of a run that has the area voice.","type":"array","items":{"title":"CallSummary","description":"One call; milliseconds where nothing else is said.","type":"object","required":["exchange","step","outcome","turns","packets","lost","soundMs"],"properties":{"exchange":{"type":"integer"},"step":{"type":"string"},"outcome":{"description":"In a few words.","type":"string"},"readyMs":{"description":"From start_call to call_ready.","type":"number"},"connectedMs":{"description":"From the answer until media could flow, about 100 ms of which are the kit's own.","type":"number"},"firstPacketMs":{"description":"From then to the first packet.","type":"number"},"firstSoundMs":{"description":"From then to the first audible one.","type":"number"},"turns":{"description":"Turns that the kit spoke.","type":"integer"},"turnResponsesMs":{"description":"From the end of a turn until the sandbox could be heard; negative where it spoke before.","type":"array","items":{"type":"number"}},"statedResponsesMs":{"description":"What its updates say of the same.","type":"array","items":{"type":"number"}},"packets":{"type":"integer"},"lost":{"description":"Packets that never came.","type":"integer"},"gapMaxMs":{"description":"The longest time between two packets.","type":"number"},"transitP99Ms":{"description":"How deep a listener's buffer must be for one packet in a hundred to be late.","type":"number"},"roundTripP95Ms":{"type":"number"},"soundMs":{"description":"How much of what came was audible.","type":"number"},"kitLateMs":{"description":"How late the kit itself sent the latest one in a hundred of its packets.","type":"number"},"closeCode":{"type":"integer"}}}},"audioLatency":{"title":"AudioLatency","description":"Voice audio latency against its target of 200 ms; of a run in which media flowed.","type":"object","required":["verdict","reason"],"properties":{"verdict":{"type":"string","enum":["met","missed","not_proven"]},"reason":{"type":"string"},"audioPathLatencyMs":{"description":"What the way of the audio adds, of the slowest call in twenty: half a round trip, a packet, and the buffer that jitter asks for. Blind to buffers inside the sandbox.","type":"number"},"turnResponseMs":{"title":"TurnResponseFigures","description":"From the end of the kit's speech until the sandbox could be heard, over all turns.","type":"object","required":["turns","p50","p95","max"],"properties":{"turns":{"type":"integer"},"p50":{"type":"number"},"p95":{"type":"number"},"max":{"type":"number"}}},"kitLimit":{"description":"Why the kit itself was too slow to be trusted.","type":"string"}}},"causes":{"description":"Failures grouped by the one change that clears them, as tried on the recording.","type":"array","items":{"title":"Cause","type":"object","required":["says","clears","verified"],"properties":{"says":{"type":"string"},"clears":{"type":"array","items":{"type":"string"}},"verified":{"type":"boolean"}}}}},"definitions":{"level":{"title":"Level","type":"string","enum":["must","should","target","may","extension"]},"verdict":{"title":"Verdict","type":"string","enum":["pass","fail","warn","note","not_applicable","not_observed","not_selected","blocked","error"]},"evidence":{"title":"Evidence","description":"The exchanges that the verdict rests on, what failed first.","type":"array","items":{"title":"EvidenceItem","type":"object","required":["exchange","step","request","outcome"],"properties":{"exchange":{"type":"integer"},"step":{"type":"string"},"request":{"type":"string"},"outcome":{"type":"string"}}}}},"examples":[{"verdict":"conforming","exitCode":0,"kitVersion":"0.1.0","suite":"2026-11","target":"http://127.0.0.1:8080","seed":"3f9a1c07de","startedAt":"2026-11-20T09:30:00.000Z","endedAt":"2026-11-20T09:30:01.000Z","counts":{"pass":1},"dialect":{"POST /users":"201"},"waived":[],"requirements":[{"id":"CHAT-001","area":"chat","level":"must","section":"4.5","statements":["4.5.1"],"verdict":"pass","says":"A full chat request is answered with a JSON object.","evidence":[{"exchange":1,"step":"full","request":"POST /v1/chat/completions","outcome":"200"}]}],"causes":[]}],"x-near-misses":[{"breaks":"/verdict","value":{"exitCode":0}}]};
const schema18 = {"title":"Evidence","description":"The exchanges that the verdict rests on, what failed first.","type":"array","items":{"title":"EvidenceItem","type":"object","required":["exchange","step","request","outcome"],"properties":{"exchange":{"type":"integer"},"step":{"type":"string"},"request":{"type":"string"},"outcome":{"type":"string"}}}};
const schema19 = {"title":"Level","type":"string","enum":["must","should","target","may","extension"]};
const schema20 = {"title":"Verdict","type":"string","enum":["pass","fail","warn","note","not_applicable","not_observed","not_selected","blocked","error"]};
const formats0 = /^(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|[12]\d)|W(?:0[1-9]|[1-4]\d|5[0-3])-[1-7]|(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6]))(?:[Tt](?:[01]\d|2[0-4])(?::[0-5]\d(?::(?:[0-5]\d|60))?)?(?:[.,]\d+)?(?:[Zz]|[+\-\u2212](?:[01]\d|2[0-4])(?::?[0-5]\d)?)?)?|\d{4}(?:(?:0[13578]|1[02])(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)(?:0[1-9]|[12]\d|30)|02(?:0[1-9]|[12]\d)|(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6]))(?:[Tt](?:[01]\d|2[0-4])(?:[0-5]\d(?:(?:[0-5]\d|60))?)?(?:[.,]\d+)?(?:[Zz]|[+\-\u2212](?:[01]\d|2[0-4])(?::?[0-5]\d)?)?)?)$/;

function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="check-report.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.verdict === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.exitCode === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "exitCode"},message:"must have required property '"+"exitCode"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.kitVersion === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kitVersion"},message:"must have required property '"+"kitVersion"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.suite === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "suite"},message:"must have required property '"+"suite"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.target === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "target"},message:"must have required property '"+"target"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.seed === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "seed"},message:"must have required property '"+"seed"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.startedAt === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "startedAt"},message:"must have required property '"+"startedAt"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.endedAt === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endedAt"},message:"must have required property '"+"endedAt"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.counts === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "counts"},message:"must have required property '"+"counts"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data.dialect === undefined){
const err9 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "dialect"},message:"must have required property '"+"dialect"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.waived === undefined){
const err10 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "waived"},message:"must have required property '"+"waived"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data.requirements === undefined){
const err11 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "requirements"},message:"must have required property '"+"requirements"+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data.causes === undefined){
const err12 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "causes"},message:"must have required property '"+"causes"+"'"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data.verdict !== undefined){
let data0 = data.verdict;
if(typeof data0 !== "string"){
const err13 = {instancePath:instancePath+"/verdict",schemaPath:"#/properties/verdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!(((data0 === "conforming") || (data0 === "not-conforming")) || (data0 === "not-judged"))){
const err14 = {instancePath:instancePath+"/verdict",schemaPath:"#/properties/verdict/enum",keyword:"enum",params:{allowedValues: schema17.properties.verdict.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.exitCode !== undefined){
let data1 = data.exitCode;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err15 = {instancePath:instancePath+"/exitCode",schemaPath:"#/properties/exitCode/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(!((((data1 === 0) || (data1 === 1)) || (data1 === 3)) || (data1 === 70))){
const err16 = {instancePath:instancePath+"/exitCode",schemaPath:"#/properties/exitCode/enum",keyword:"enum",params:{allowedValues: schema17.properties.exitCode.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.kitVersion !== undefined){
if(typeof data.kitVersion !== "string"){
const err17 = {instancePath:instancePath+"/kitVersion",schemaPath:"#/properties/kitVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.suite !== undefined){
if(typeof data.suite !== "string"){
const err18 = {instancePath:instancePath+"/suite",schemaPath:"#/properties/suite/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.target !== undefined){
if(typeof data.target !== "string"){
const err19 = {instancePath:instancePath+"/target",schemaPath:"#/properties/target/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.seed !== undefined){
if(typeof data.seed !== "string"){
const err20 = {instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.startedAt !== undefined){
let data6 = data.startedAt;
if(typeof data6 === "string"){
if(!(formats0.test(data6))){
const err21 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.endedAt !== undefined){
let data7 = data.endedAt;
if(typeof data7 === "string"){
if(!(formats0.test(data7))){
const err23 = {instancePath:instancePath+"/endedAt",schemaPath:"#/properties/endedAt/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
else {
const err24 = {instancePath:instancePath+"/endedAt",schemaPath:"#/properties/endedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.gate !== undefined){
let data8 = data.gate;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.id === undefined){
const err25 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(data8.says === undefined){
const err26 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(data8.cure === undefined){
const err27 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "cure"},message:"must have required property '"+"cure"+"'"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(data8.evidence === undefined){
const err28 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "evidence"},message:"must have required property '"+"evidence"+"'"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if(data8.id !== undefined){
if(typeof data8.id !== "string"){
const err29 = {instancePath:instancePath+"/gate/id",schemaPath:"#/properties/gate/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data8.says !== undefined){
if(typeof data8.says !== "string"){
const err30 = {instancePath:instancePath+"/gate/says",schemaPath:"#/properties/gate/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data8.cure !== undefined){
if(typeof data8.cure !== "string"){
const err31 = {instancePath:instancePath+"/gate/cure",schemaPath:"#/properties/gate/properties/cure/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data8.evidence !== undefined){
let data12 = data8.evidence;
if(Array.isArray(data12)){
const len0 = data12.length;
for(let i0=0; i0<len0; i0++){
let data13 = data12[i0];
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(data13.exchange === undefined){
const err32 = {instancePath:instancePath+"/gate/evidence/" + i0,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "exchange"},message:"must have required property '"+"exchange"+"'"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(data13.step === undefined){
const err33 = {instancePath:instancePath+"/gate/evidence/" + i0,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "step"},message:"must have required property '"+"step"+"'"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(data13.request === undefined){
const err34 = {instancePath:instancePath+"/gate/evidence/" + i0,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "request"},message:"must have required property '"+"request"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data13.outcome === undefined){
const err35 = {instancePath:instancePath+"/gate/evidence/" + i0,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if(data13.exchange !== undefined){
let data14 = data13.exchange;
if(!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))){
const err36 = {instancePath:instancePath+"/gate/evidence/" + i0+"/exchange",schemaPath:"#/definitions/evidence/items/properties/exchange/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data13.step !== undefined){
if(typeof data13.step !== "string"){
const err37 = {instancePath:instancePath+"/gate/evidence/" + i0+"/step",schemaPath:"#/definitions/evidence/items/properties/step/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data13.request !== undefined){
if(typeof data13.request !== "string"){
const err38 = {instancePath:instancePath+"/gate/evidence/" + i0+"/request",schemaPath:"#/definitions/evidence/items/properties/request/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data13.outcome !== undefined){
if(typeof data13.outcome !== "string"){
const err39 = {instancePath:instancePath+"/gate/evidence/" + i0+"/outcome",schemaPath:"#/definitions/evidence/items/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath:instancePath+"/gate/evidence/" + i0,schemaPath:"#/definitions/evidence/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/gate/evidence",schemaPath:"#/definitions/evidence/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
}
else {
const err42 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data.counts !== undefined){
let data18 = data.counts;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
for(const key0 in data18){
let data19 = data18[key0];
if(!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))){
const err43 = {instancePath:instancePath+"/counts/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/counts/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
}
else {
const err44 = {instancePath:instancePath+"/counts",schemaPath:"#/properties/counts/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data.dialect !== undefined){
let data20 = data.dialect;
if(data20 && typeof data20 == "object" && !Array.isArray(data20)){
for(const key1 in data20){
if(typeof data20[key1] !== "string"){
const err45 = {instancePath:instancePath+"/dialect/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/dialect/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
}
else {
const err46 = {instancePath:instancePath+"/dialect",schemaPath:"#/properties/dialect/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
if(data.waived !== undefined){
let data22 = data.waived;
if(Array.isArray(data22)){
const len1 = data22.length;
for(let i1=0; i1<len1; i1++){
if(typeof data22[i1] !== "string"){
const err47 = {instancePath:instancePath+"/waived/" + i1,schemaPath:"#/properties/waived/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath:instancePath+"/waived",schemaPath:"#/properties/waived/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data.staleBaseline !== undefined){
let data24 = data.staleBaseline;
if(Array.isArray(data24)){
const len2 = data24.length;
for(let i2=0; i2<len2; i2++){
if(typeof data24[i2] !== "string"){
const err49 = {instancePath:instancePath+"/staleBaseline/" + i2,schemaPath:"#/properties/staleBaseline/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
}
else {
const err50 = {instancePath:instancePath+"/staleBaseline",schemaPath:"#/properties/staleBaseline/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data.requirements !== undefined){
let data26 = data.requirements;
if(Array.isArray(data26)){
const len3 = data26.length;
for(let i3=0; i3<len3; i3++){
let data27 = data26[i3];
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
if(data27.id === undefined){
const err51 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
if(data27.area === undefined){
const err52 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "area"},message:"must have required property '"+"area"+"'"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
if(data27.level === undefined){
const err53 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "level"},message:"must have required property '"+"level"+"'"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
if(data27.section === undefined){
const err54 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "section"},message:"must have required property '"+"section"+"'"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
if(data27.statements === undefined){
const err55 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "statements"},message:"must have required property '"+"statements"+"'"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
if(data27.verdict === undefined){
const err56 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
if(data27.says === undefined){
const err57 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
if(data27.evidence === undefined){
const err58 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/required",keyword:"required",params:{missingProperty: "evidence"},message:"must have required property '"+"evidence"+"'"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
if(data27.id !== undefined){
if(typeof data27.id !== "string"){
const err59 = {instancePath:instancePath+"/requirements/" + i3+"/id",schemaPath:"#/properties/requirements/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data27.area !== undefined){
if(typeof data27.area !== "string"){
const err60 = {instancePath:instancePath+"/requirements/" + i3+"/area",schemaPath:"#/properties/requirements/items/properties/area/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data27.level !== undefined){
let data30 = data27.level;
if(typeof data30 !== "string"){
const err61 = {instancePath:instancePath+"/requirements/" + i3+"/level",schemaPath:"#/definitions/level/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if(!(((((data30 === "must") || (data30 === "should")) || (data30 === "target")) || (data30 === "may")) || (data30 === "extension"))){
const err62 = {instancePath:instancePath+"/requirements/" + i3+"/level",schemaPath:"#/definitions/level/enum",keyword:"enum",params:{allowedValues: schema19.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
if(data27.section !== undefined){
if(typeof data27.section !== "string"){
const err63 = {instancePath:instancePath+"/requirements/" + i3+"/section",schemaPath:"#/properties/requirements/items/properties/section/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
}
if(data27.statements !== undefined){
let data32 = data27.statements;
if(Array.isArray(data32)){
const len4 = data32.length;
for(let i4=0; i4<len4; i4++){
if(typeof data32[i4] !== "string"){
const err64 = {instancePath:instancePath+"/requirements/" + i3+"/statements/" + i4,schemaPath:"#/properties/requirements/items/properties/statements/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
}
else {
const err65 = {instancePath:instancePath+"/requirements/" + i3+"/statements",schemaPath:"#/properties/requirements/items/properties/statements/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
if(data27.verdict !== undefined){
let data34 = data27.verdict;
if(typeof data34 !== "string"){
const err66 = {instancePath:instancePath+"/requirements/" + i3+"/verdict",schemaPath:"#/definitions/verdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(!(((((((((data34 === "pass") || (data34 === "fail")) || (data34 === "warn")) || (data34 === "note")) || (data34 === "not_applicable")) || (data34 === "not_observed")) || (data34 === "not_selected")) || (data34 === "blocked")) || (data34 === "error"))){
const err67 = {instancePath:instancePath+"/requirements/" + i3+"/verdict",schemaPath:"#/definitions/verdict/enum",keyword:"enum",params:{allowedValues: schema20.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data27.says !== undefined){
if(typeof data27.says !== "string"){
const err68 = {instancePath:instancePath+"/requirements/" + i3+"/says",schemaPath:"#/properties/requirements/items/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data27.accepted !== undefined){
if(typeof data27.accepted !== "string"){
const err69 = {instancePath:instancePath+"/requirements/" + i3+"/accepted",schemaPath:"#/properties/requirements/items/properties/accepted/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
if(data27.reason !== undefined){
if(typeof data27.reason !== "string"){
const err70 = {instancePath:instancePath+"/requirements/" + i3+"/reason",schemaPath:"#/properties/requirements/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
if(data27.expected !== undefined){
if(typeof data27.expected !== "string"){
const err71 = {instancePath:instancePath+"/requirements/" + i3+"/expected",schemaPath:"#/properties/requirements/items/properties/expected/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data27.received !== undefined){
if(typeof data27.received !== "string"){
const err72 = {instancePath:instancePath+"/requirements/" + i3+"/received",schemaPath:"#/properties/requirements/items/properties/received/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data27.pointer !== undefined){
if(typeof data27.pointer !== "string"){
const err73 = {instancePath:instancePath+"/requirements/" + i3+"/pointer",schemaPath:"#/properties/requirements/items/properties/pointer/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
if(data27.hint !== undefined){
if(typeof data27.hint !== "string"){
const err74 = {instancePath:instancePath+"/requirements/" + i3+"/hint",schemaPath:"#/properties/requirements/items/properties/hint/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data27.curl !== undefined){
if(typeof data27.curl !== "string"){
const err75 = {instancePath:instancePath+"/requirements/" + i3+"/curl",schemaPath:"#/properties/requirements/items/properties/curl/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data27.findings !== undefined){
let data43 = data27.findings;
if(!(((typeof data43 == "number") && (!(data43 % 1) && !isNaN(data43))) && (isFinite(data43)))){
const err76 = {instancePath:instancePath+"/requirements/" + i3+"/findings",schemaPath:"#/properties/requirements/items/properties/findings/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data27.evidence !== undefined){
let data44 = data27.evidence;
if(Array.isArray(data44)){
const len5 = data44.length;
for(let i5=0; i5<len5; i5++){
let data45 = data44[i5];
if(data45 && typeof data45 == "object" && !Array.isArray(data45)){
if(data45.exchange === undefined){
const err77 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "exchange"},message:"must have required property '"+"exchange"+"'"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if(data45.step === undefined){
const err78 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "step"},message:"must have required property '"+"step"+"'"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
if(data45.request === undefined){
const err79 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "request"},message:"must have required property '"+"request"+"'"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
if(data45.outcome === undefined){
const err80 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5,schemaPath:"#/definitions/evidence/items/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
if(data45.exchange !== undefined){
let data46 = data45.exchange;
if(!(((typeof data46 == "number") && (!(data46 % 1) && !isNaN(data46))) && (isFinite(data46)))){
const err81 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5+"/exchange",schemaPath:"#/definitions/evidence/items/properties/exchange/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
if(data45.step !== undefined){
if(typeof data45.step !== "string"){
const err82 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5+"/step",schemaPath:"#/definitions/evidence/items/properties/step/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
if(data45.request !== undefined){
if(typeof data45.request !== "string"){
const err83 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5+"/request",schemaPath:"#/definitions/evidence/items/properties/request/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data45.outcome !== undefined){
if(typeof data45.outcome !== "string"){
const err84 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5+"/outcome",schemaPath:"#/definitions/evidence/items/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
}
else {
const err85 = {instancePath:instancePath+"/requirements/" + i3+"/evidence/" + i5,schemaPath:"#/definitions/evidence/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
}
else {
const err86 = {instancePath:instancePath+"/requirements/" + i3+"/evidence",schemaPath:"#/definitions/evidence/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
}
else {
const err87 = {instancePath:instancePath+"/requirements/" + i3,schemaPath:"#/properties/requirements/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
}
else {
const err88 = {instancePath:instancePath+"/requirements",schemaPath:"#/properties/requirements/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
if(data.calls !== undefined){
let data50 = data.calls;
if(Array.isArray(data50)){
const len6 = data50.length;
for(let i6=0; i6<len6; i6++){
let data51 = data50[i6];
if(data51 && typeof data51 == "object" && !Array.isArray(data51)){
if(data51.exchange === undefined){
const err89 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "exchange"},message:"must have required property '"+"exchange"+"'"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
if(data51.step === undefined){
const err90 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "step"},message:"must have required property '"+"step"+"'"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
if(data51.outcome === undefined){
const err91 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
if(data51.turns === undefined){
const err92 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "turns"},message:"must have required property '"+"turns"+"'"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
if(data51.packets === undefined){
const err93 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "packets"},message:"must have required property '"+"packets"+"'"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
if(data51.lost === undefined){
const err94 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "lost"},message:"must have required property '"+"lost"+"'"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
if(data51.soundMs === undefined){
const err95 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/required",keyword:"required",params:{missingProperty: "soundMs"},message:"must have required property '"+"soundMs"+"'"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
if(data51.exchange !== undefined){
let data52 = data51.exchange;
if(!(((typeof data52 == "number") && (!(data52 % 1) && !isNaN(data52))) && (isFinite(data52)))){
const err96 = {instancePath:instancePath+"/calls/" + i6+"/exchange",schemaPath:"#/properties/calls/items/properties/exchange/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
if(data51.step !== undefined){
if(typeof data51.step !== "string"){
const err97 = {instancePath:instancePath+"/calls/" + i6+"/step",schemaPath:"#/properties/calls/items/properties/step/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
if(data51.outcome !== undefined){
if(typeof data51.outcome !== "string"){
const err98 = {instancePath:instancePath+"/calls/" + i6+"/outcome",schemaPath:"#/properties/calls/items/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
if(data51.readyMs !== undefined){
let data55 = data51.readyMs;
if(!((typeof data55 == "number") && (isFinite(data55)))){
const err99 = {instancePath:instancePath+"/calls/" + i6+"/readyMs",schemaPath:"#/properties/calls/items/properties/readyMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
if(data51.connectedMs !== undefined){
let data56 = data51.connectedMs;
if(!((typeof data56 == "number") && (isFinite(data56)))){
const err100 = {instancePath:instancePath+"/calls/" + i6+"/connectedMs",schemaPath:"#/properties/calls/items/properties/connectedMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data51.firstPacketMs !== undefined){
let data57 = data51.firstPacketMs;
if(!((typeof data57 == "number") && (isFinite(data57)))){
const err101 = {instancePath:instancePath+"/calls/" + i6+"/firstPacketMs",schemaPath:"#/properties/calls/items/properties/firstPacketMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
if(data51.firstSoundMs !== undefined){
let data58 = data51.firstSoundMs;
if(!((typeof data58 == "number") && (isFinite(data58)))){
const err102 = {instancePath:instancePath+"/calls/" + i6+"/firstSoundMs",schemaPath:"#/properties/calls/items/properties/firstSoundMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
if(data51.turns !== undefined){
let data59 = data51.turns;
if(!(((typeof data59 == "number") && (!(data59 % 1) && !isNaN(data59))) && (isFinite(data59)))){
const err103 = {instancePath:instancePath+"/calls/" + i6+"/turns",schemaPath:"#/properties/calls/items/properties/turns/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
if(data51.turnResponsesMs !== undefined){
let data60 = data51.turnResponsesMs;
if(Array.isArray(data60)){
const len7 = data60.length;
for(let i7=0; i7<len7; i7++){
let data61 = data60[i7];
if(!((typeof data61 == "number") && (isFinite(data61)))){
const err104 = {instancePath:instancePath+"/calls/" + i6+"/turnResponsesMs/" + i7,schemaPath:"#/properties/calls/items/properties/turnResponsesMs/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
}
else {
const err105 = {instancePath:instancePath+"/calls/" + i6+"/turnResponsesMs",schemaPath:"#/properties/calls/items/properties/turnResponsesMs/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
if(data51.statedResponsesMs !== undefined){
let data62 = data51.statedResponsesMs;
if(Array.isArray(data62)){
const len8 = data62.length;
for(let i8=0; i8<len8; i8++){
let data63 = data62[i8];
if(!((typeof data63 == "number") && (isFinite(data63)))){
const err106 = {instancePath:instancePath+"/calls/" + i6+"/statedResponsesMs/" + i8,schemaPath:"#/properties/calls/items/properties/statedResponsesMs/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
}
else {
const err107 = {instancePath:instancePath+"/calls/" + i6+"/statedResponsesMs",schemaPath:"#/properties/calls/items/properties/statedResponsesMs/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
if(data51.packets !== undefined){
let data64 = data51.packets;
if(!(((typeof data64 == "number") && (!(data64 % 1) && !isNaN(data64))) && (isFinite(data64)))){
const err108 = {instancePath:instancePath+"/calls/" + i6+"/packets",schemaPath:"#/properties/calls/items/properties/packets/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
if(data51.lost !== undefined){
let data65 = data51.lost;
if(!(((typeof data65 == "number") && (!(data65 % 1) && !isNaN(data65))) && (isFinite(data65)))){
const err109 = {instancePath:instancePath+"/calls/" + i6+"/lost",schemaPath:"#/properties/calls/items/properties/lost/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
if(data51.gapMaxMs !== undefined){
let data66 = data51.gapMaxMs;
if(!((typeof data66 == "number") && (isFinite(data66)))){
const err110 = {instancePath:instancePath+"/calls/" + i6+"/gapMaxMs",schemaPath:"#/properties/calls/items/properties/gapMaxMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
if(data51.transitP99Ms !== undefined){
let data67 = data51.transitP99Ms;
if(!((typeof data67 == "number") && (isFinite(data67)))){
const err111 = {instancePath:instancePath+"/calls/" + i6+"/transitP99Ms",schemaPath:"#/properties/calls/items/properties/transitP99Ms/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
if(data51.roundTripP95Ms !== undefined){
let data68 = data51.roundTripP95Ms;
if(!((typeof data68 == "number") && (isFinite(data68)))){
const err112 = {instancePath:instancePath+"/calls/" + i6+"/roundTripP95Ms",schemaPath:"#/properties/calls/items/properties/roundTripP95Ms/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
if(data51.soundMs !== undefined){
let data69 = data51.soundMs;
if(!((typeof data69 == "number") && (isFinite(data69)))){
const err113 = {instancePath:instancePath+"/calls/" + i6+"/soundMs",schemaPath:"#/properties/calls/items/properties/soundMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
if(data51.kitLateMs !== undefined){
let data70 = data51.kitLateMs;
if(!((typeof data70 == "number") && (isFinite(data70)))){
const err114 = {instancePath:instancePath+"/calls/" + i6+"/kitLateMs",schemaPath:"#/properties/calls/items/properties/kitLateMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
if(data51.closeCode !== undefined){
let data71 = data51.closeCode;
if(!(((typeof data71 == "number") && (!(data71 % 1) && !isNaN(data71))) && (isFinite(data71)))){
const err115 = {instancePath:instancePath+"/calls/" + i6+"/closeCode",schemaPath:"#/properties/calls/items/properties/closeCode/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
}
else {
const err116 = {instancePath:instancePath+"/calls/" + i6,schemaPath:"#/properties/calls/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
}
}
else {
const err117 = {instancePath:instancePath+"/calls",schemaPath:"#/properties/calls/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
if(data.audioLatency !== undefined){
let data72 = data.audioLatency;
if(data72 && typeof data72 == "object" && !Array.isArray(data72)){
if(data72.verdict === undefined){
const err118 = {instancePath:instancePath+"/audioLatency",schemaPath:"#/properties/audioLatency/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
if(data72.reason === undefined){
const err119 = {instancePath:instancePath+"/audioLatency",schemaPath:"#/properties/audioLatency/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
if(data72.verdict !== undefined){
let data73 = data72.verdict;
if(typeof data73 !== "string"){
const err120 = {instancePath:instancePath+"/audioLatency/verdict",schemaPath:"#/properties/audioLatency/properties/verdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
if(!(((data73 === "met") || (data73 === "missed")) || (data73 === "not_proven"))){
const err121 = {instancePath:instancePath+"/audioLatency/verdict",schemaPath:"#/properties/audioLatency/properties/verdict/enum",keyword:"enum",params:{allowedValues: schema17.properties.audioLatency.properties.verdict.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
if(data72.reason !== undefined){
if(typeof data72.reason !== "string"){
const err122 = {instancePath:instancePath+"/audioLatency/reason",schemaPath:"#/properties/audioLatency/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data72.audioPathLatencyMs !== undefined){
let data75 = data72.audioPathLatencyMs;
if(!((typeof data75 == "number") && (isFinite(data75)))){
const err123 = {instancePath:instancePath+"/audioLatency/audioPathLatencyMs",schemaPath:"#/properties/audioLatency/properties/audioPathLatencyMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
if(data72.turnResponseMs !== undefined){
let data76 = data72.turnResponseMs;
if(data76 && typeof data76 == "object" && !Array.isArray(data76)){
if(data76.turns === undefined){
const err124 = {instancePath:instancePath+"/audioLatency/turnResponseMs",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/required",keyword:"required",params:{missingProperty: "turns"},message:"must have required property '"+"turns"+"'"};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
if(data76.p50 === undefined){
const err125 = {instancePath:instancePath+"/audioLatency/turnResponseMs",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
if(data76.p95 === undefined){
const err126 = {instancePath:instancePath+"/audioLatency/turnResponseMs",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/required",keyword:"required",params:{missingProperty: "p95"},message:"must have required property '"+"p95"+"'"};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
if(data76.max === undefined){
const err127 = {instancePath:instancePath+"/audioLatency/turnResponseMs",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
if(data76.turns !== undefined){
let data77 = data76.turns;
if(!(((typeof data77 == "number") && (!(data77 % 1) && !isNaN(data77))) && (isFinite(data77)))){
const err128 = {instancePath:instancePath+"/audioLatency/turnResponseMs/turns",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/properties/turns/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
if(data76.p50 !== undefined){
let data78 = data76.p50;
if(!((typeof data78 == "number") && (isFinite(data78)))){
const err129 = {instancePath:instancePath+"/audioLatency/turnResponseMs/p50",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/properties/p50/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
if(data76.p95 !== undefined){
let data79 = data76.p95;
if(!((typeof data79 == "number") && (isFinite(data79)))){
const err130 = {instancePath:instancePath+"/audioLatency/turnResponseMs/p95",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/properties/p95/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
if(data76.max !== undefined){
let data80 = data76.max;
if(!((typeof data80 == "number") && (isFinite(data80)))){
const err131 = {instancePath:instancePath+"/audioLatency/turnResponseMs/max",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/properties/max/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
}
else {
const err132 = {instancePath:instancePath+"/audioLatency/turnResponseMs",schemaPath:"#/properties/audioLatency/properties/turnResponseMs/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
if(data72.kitLimit !== undefined){
if(typeof data72.kitLimit !== "string"){
const err133 = {instancePath:instancePath+"/audioLatency/kitLimit",schemaPath:"#/properties/audioLatency/properties/kitLimit/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
}
else {
const err134 = {instancePath:instancePath+"/audioLatency",schemaPath:"#/properties/audioLatency/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
}
if(data.causes !== undefined){
let data82 = data.causes;
if(Array.isArray(data82)){
const len9 = data82.length;
for(let i9=0; i9<len9; i9++){
let data83 = data82[i9];
if(data83 && typeof data83 == "object" && !Array.isArray(data83)){
if(data83.says === undefined){
const err135 = {instancePath:instancePath+"/causes/" + i9,schemaPath:"#/properties/causes/items/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
if(data83.clears === undefined){
const err136 = {instancePath:instancePath+"/causes/" + i9,schemaPath:"#/properties/causes/items/required",keyword:"required",params:{missingProperty: "clears"},message:"must have required property '"+"clears"+"'"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
if(data83.verified === undefined){
const err137 = {instancePath:instancePath+"/causes/" + i9,schemaPath:"#/properties/causes/items/required",keyword:"required",params:{missingProperty: "verified"},message:"must have required property '"+"verified"+"'"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
if(data83.says !== undefined){
if(typeof data83.says !== "string"){
const err138 = {instancePath:instancePath+"/causes/" + i9+"/says",schemaPath:"#/properties/causes/items/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
if(data83.clears !== undefined){
let data85 = data83.clears;
if(Array.isArray(data85)){
const len10 = data85.length;
for(let i10=0; i10<len10; i10++){
if(typeof data85[i10] !== "string"){
const err139 = {instancePath:instancePath+"/causes/" + i9+"/clears/" + i10,schemaPath:"#/properties/causes/items/properties/clears/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
}
}
else {
const err140 = {instancePath:instancePath+"/causes/" + i9+"/clears",schemaPath:"#/properties/causes/items/properties/clears/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
}
if(data83.verified !== undefined){
if(typeof data83.verified !== "boolean"){
const err141 = {instancePath:instancePath+"/causes/" + i9+"/verified",schemaPath:"#/properties/causes/items/properties/verified/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
}
else {
const err142 = {instancePath:instancePath+"/causes/" + i9,schemaPath:"#/properties/causes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
}
else {
const err143 = {instancePath:instancePath+"/causes",schemaPath:"#/properties/causes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
}
else {
const err144 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
validate15.errors = vErrors;
return errors === 0;
}

export const ClockChange = validate16;
const schema22 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"clock-change.schema.json","title":"ClockChange","$comment":"our extension; POST and PUT /__admin/clock of the service","description":"Sets the service's clock or moves it on: exactly one of the two. PUT only sets. It ends with the year 9999; a restart puts it back to the machine's time, a reset does not.","x-extension":true,"type":"object","required":[],"additionalProperties":false,"properties":{"advance_ms":{"type":"integer","minimum":0,"maximum":3155760000000,"description":"Milliseconds to move on."},"set_ms":{"type":"integer","minimum":0,"maximum":253402300799999,"description":"Milliseconds since the Unix epoch."}},"examples":[{"advance_ms":86400000},{"set_ms":1763596800000}],"x-near-misses":[{"breaks":"/advance_ms","value":{"advance_ms":-1}},{"breaks":"/advance_ms","value":{"advance_ms":"1000"}},{"breaks":"/set","value":{"set":0}}]};

function validate16(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="clock-change.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "advance_ms") || (key0 === "set_ms"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.advance_ms !== undefined){
let data0 = data.advance_ms;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/advance_ms",schemaPath:"#/properties/advance_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 3155760000000 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/advance_ms",schemaPath:"#/properties/advance_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3155760000000},message:"must be <= 3155760000000"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/advance_ms",schemaPath:"#/properties/advance_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.set_ms !== undefined){
let data1 = data.set_ms;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err4 = {instancePath:instancePath+"/set_ms",schemaPath:"#/properties/set_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 253402300799999 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/set_ms",schemaPath:"#/properties/set_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 253402300799999},message:"must be <= 253402300799999"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/set_ms",schemaPath:"#/properties/set_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate16.errors = vErrors;
return errors === 0;
}

export const ClosedConversation = validate17;
const schema23 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"closed-conversation.schema.json","title":"ClosedConversation","$comment":"spec 2.3","description":"What the service answers to POST /v1/sessions/{conversation_id}/end.","type":"object","required":["conversation_id","status","run","evaluations_queued"],"properties":{"conversation_id":{"type":"string","description":"The closed conversation."},"status":{"type":"string","const":"evaluating"},"run":{"type":"string","description":"Name of the daily run: base name and date."},"evaluations_queued":{"type":"integer","minimum":0,"description":"How many evals this call queued; 0 on a repeat."},"already_closed":{"type":"boolean","const":true,"description":"Present and true on a repeated call."}},"examples":[{"conversation_id":"conv-1","status":"evaluating","run":"Live traces 2026-11-20","evaluations_queued":2},{"conversation_id":"conv-1","status":"evaluating","run":"Live traces 2026-11-20","evaluations_queued":0,"already_closed":true}],"x-near-misses":[{"breaks":"/run","value":{"conversation_id":"conv-1","status":"evaluating","evaluations_queued":2}},{"breaks":"/already_closed","value":{"conversation_id":"c","status":"evaluating","run":"r","evaluations_queued":1,"already_closed":false}}]};

function validate17(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="closed-conversation.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.conversation_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "conversation_id"},message:"must have required property '"+"conversation_id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.status === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.run === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "run"},message:"must have required property '"+"run"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.evaluations_queued === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "evaluations_queued"},message:"must have required property '"+"evaluations_queued"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.conversation_id !== undefined){
if(typeof data.conversation_id !== "string"){
const err4 = {instancePath:instancePath+"/conversation_id",schemaPath:"#/properties/conversation_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.status !== undefined){
let data1 = data.status;
if(typeof data1 !== "string"){
const err5 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if("evaluating" !== data1){
const err6 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/const",keyword:"const",params:{allowedValue: "evaluating"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.run !== undefined){
if(typeof data.run !== "string"){
const err7 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.evaluations_queued !== undefined){
let data3 = data.evaluations_queued;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/evaluations_queued",schemaPath:"#/properties/evaluations_queued/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/evaluations_queued",schemaPath:"#/properties/evaluations_queued/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.already_closed !== undefined){
let data4 = data.already_closed;
if(typeof data4 !== "boolean"){
const err10 = {instancePath:instancePath+"/already_closed",schemaPath:"#/properties/already_closed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(true !== data4){
const err11 = {instancePath:instancePath+"/already_closed",schemaPath:"#/properties/already_closed/const",keyword:"const",params:{allowedValue: true},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate17.errors = vErrors;
return errors === 0;
}

export const ConversationUpdate = validate18;
const schema24 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"conversation-update.schema.json","title":"ConversationUpdate","$comment":"spec 6","description":"Sandbox to service: what was said in a turn.","type":"object","required":["type","call_id","transcript"],"properties":{"type":{"type":"string","const":"conversation_update"},"session_id":{"type":"string"},"call_id":{"type":"string"},"transcript":{"title":"TurnTranscript","type":"object","required":["user","agent"],"properties":{"user":{"type":"string"},"agent":{"type":"string"}}},"metadata":{"title":"TurnMetadata","type":"object","properties":{"audio_quality":{"type":"string"},"response_time_ms":{"description":"Milliseconds.","type":"integer"},"confidence_score":{"type":"number"}}},"evaluation_metadata":{"title":"TurnHints","type":"object","properties":{"understood_intent":{"type":"boolean"},"appropriate_response":{"type":"boolean"},"tone":{"type":"string"},"next_action":{"type":"string"}}}},"examples":[{"type":"conversation_update","session_id":"session-1","call_id":"call-1","transcript":{"user":"Where is my order?","agent":"It is on its way."},"metadata":{"audio_quality":"good","response_time_ms":640,"confidence_score":0.9},"evaluation_metadata":{"understood_intent":true,"appropriate_response":true,"tone":"friendly","next_action":"wait"}}],"x-near-misses":[{"breaks":"/transcript/agent","value":{"type":"conversation_update","call_id":"call-1","transcript":{"user":"Hi"}}},{"breaks":"/metadata/response_time_ms","value":{"type":"conversation_update","call_id":"call-1","transcript":{"user":"Hi","agent":"Hello"},"metadata":{"response_time_ms":"640 ms"}}}]};

function validate18(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="conversation-update.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.call_id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "call_id"},message:"must have required property '"+"call_id"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.transcript === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "transcript"},message:"must have required property '"+"transcript"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if("conversation_update" !== data0){
const err4 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "conversation_update"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err5 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.call_id !== undefined){
if(typeof data.call_id !== "string"){
const err6 = {instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.transcript !== undefined){
let data3 = data.transcript;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.user === undefined){
const err7 = {instancePath:instancePath+"/transcript",schemaPath:"#/properties/transcript/required",keyword:"required",params:{missingProperty: "user"},message:"must have required property '"+"user"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3.agent === undefined){
const err8 = {instancePath:instancePath+"/transcript",schemaPath:"#/properties/transcript/required",keyword:"required",params:{missingProperty: "agent"},message:"must have required property '"+"agent"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data3.user !== undefined){
if(typeof data3.user !== "string"){
const err9 = {instancePath:instancePath+"/transcript/user",schemaPath:"#/properties/transcript/properties/user/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data3.agent !== undefined){
if(typeof data3.agent !== "string"){
const err10 = {instancePath:instancePath+"/transcript/agent",schemaPath:"#/properties/transcript/properties/agent/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/transcript",schemaPath:"#/properties/transcript/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.metadata !== undefined){
let data6 = data.metadata;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.audio_quality !== undefined){
if(typeof data6.audio_quality !== "string"){
const err12 = {instancePath:instancePath+"/metadata/audio_quality",schemaPath:"#/properties/metadata/properties/audio_quality/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data6.response_time_ms !== undefined){
let data8 = data6.response_time_ms;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
const err13 = {instancePath:instancePath+"/metadata/response_time_ms",schemaPath:"#/properties/metadata/properties/response_time_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data6.confidence_score !== undefined){
let data9 = data6.confidence_score;
if(!((typeof data9 == "number") && (isFinite(data9)))){
const err14 = {instancePath:instancePath+"/metadata/confidence_score",schemaPath:"#/properties/metadata/properties/confidence_score/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.evaluation_metadata !== undefined){
let data10 = data.evaluation_metadata;
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
if(data10.understood_intent !== undefined){
if(typeof data10.understood_intent !== "boolean"){
const err16 = {instancePath:instancePath+"/evaluation_metadata/understood_intent",schemaPath:"#/properties/evaluation_metadata/properties/understood_intent/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data10.appropriate_response !== undefined){
if(typeof data10.appropriate_response !== "boolean"){
const err17 = {instancePath:instancePath+"/evaluation_metadata/appropriate_response",schemaPath:"#/properties/evaluation_metadata/properties/appropriate_response/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data10.tone !== undefined){
if(typeof data10.tone !== "string"){
const err18 = {instancePath:instancePath+"/evaluation_metadata/tone",schemaPath:"#/properties/evaluation_metadata/properties/tone/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data10.next_action !== undefined){
if(typeof data10.next_action !== "string"){
const err19 = {instancePath:instancePath+"/evaluation_metadata/next_action",schemaPath:"#/properties/evaluation_metadata/properties/next_action/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/evaluation_metadata",schemaPath:"#/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
validate18.errors = vErrors;
return errors === 0;
}

export const EndCall = validate19;
const schema25 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"end-call.schema.json","title":"EndCall","$comment":"our extension; the specification shows no message that ends a call","description":"Service to sandbox: the call is over. May be ignored; closing the WebSocket is the hang-up.","x-extension":true,"type":"object","required":["type"],"properties":{"type":{"type":"string","const":"end_call"},"session_id":{"type":"string"},"call_id":{"type":"string"}},"examples":[{"type":"end_call","session_id":"session-1","call_id":"call-1"}],"x-near-misses":[{"breaks":"/type","value":{"call_id":"call-1"}}]};

function validate19(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="end-call.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if("end_call" !== data0){
const err2 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "end_call"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err3 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.call_id !== undefined){
if(typeof data.call_id !== "string"){
const err4 = {instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate19.errors = vErrors;
return errors === 0;
}

export const EvalDefinition = validate20;
const schema26 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"eval-definition.schema.json","title":"EvalDefinition","$comment":"spec 1, 2.6; ours","description":"An eval: one scoring criterion, and how it is scored.","x-extension":true,"type":"object","required":["id","name","kind"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$"},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Shown as eval_name."},"category":{"type":"string","pattern":"^[^\\r\\n]{1,100}$","description":"Free text, shown as eval_category; general when left out."},"type":{"type":"string","enum":["session_level","turn_level"],"description":"session_level when left out."},"kind":{"type":"string","enum":["contains","regex","tool_called","tool_args","tool_order","max_turns","max_latency","json_path","evaluation_metadata","judge"]},"params":{"type":"object","description":"What the kind needs; see the rules below."},"required":{"type":"boolean","description":"False never makes a session fail, though it counts among the outcomes; true when left out."}},"additionalProperties":false,"allOf":[{"if":{"properties":{"kind":{"const":"contains"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["text"],"properties":{"text":{"type":"string"},"in":{"type":"string","enum":["agent","user","any"]},"case_sensitive":{"type":"boolean"}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"regex"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["pattern"],"properties":{"pattern":{"type":"string"},"flags":{"type":"string","pattern":"^[imsu]*$"},"in":{"type":"string","enum":["agent","user","any"]}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"tool_called"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"tool_args"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["name","arguments"],"properties":{"name":{"type":"string"},"arguments":{"type":"object","description":"A subset of the arguments of some call."}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"tool_order"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["names"],"properties":{"names":{"type":"array","items":{"type":"string"},"minItems":1}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"max_turns"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["max"],"properties":{"max":{"type":"integer","minimum":0}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"max_latency"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["ms"],"properties":{"ms":{"type":"number","minimum":0,"description":"Milliseconds, for each turn."}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"json_path"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["path","equals"],"properties":{"path":{"type":"string","description":"Over the session: $, then .key, [\"key\"], [0], [-1] or [*], e.g. $.turns[0].agent_response."},"equals":{}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"evaluation_metadata"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["key","equals"],"properties":{"key":{"type":"string"},"equals":{}},"additionalProperties":false}}}},{"if":{"properties":{"kind":{"const":"judge"}},"required":["kind"]},"then":{"required":["params"],"properties":{"params":{"type":"object","required":["criteria"],"properties":{"criteria":{"type":"string","pattern":"\\S","description":"What a passing session does, as a positive sentence."},"model":{"type":"string"}},"additionalProperties":false}}}}],"examples":[{"id":"order-found","name":"Order found","category":"task_completion","kind":"contains","params":{"text":"shipped"}},{"id":"looked-up","name":"Looked up the order","kind":"tool_args","params":{"name":"look_up_order","arguments":{"order_id":"A-1001"}},"required":false}],"x-near-misses":[{"breaks":"/params","value":{"id":"a","name":"A","kind":"contains"}},{"breaks":"/params/text","value":{"id":"a","name":"A","kind":"contains","params":{"in":"agent"}}},{"breaks":"/kind","value":{"id":"a","name":"A","kind":"magic","params":{}}}]};
const pattern0 = new RegExp("^[imsu]*$", "u");
const pattern1 = new RegExp("\\S", "u");
const pattern2 = new RegExp("^[A-Za-z0-9_.-]{1,64}$", "u");
const pattern3 = new RegExp("^[^\\r\\n]{1,200}$", "u");
const pattern4 = new RegExp("^[^\\r\\n]{1,100}$", "u");

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="eval-definition.schema.json" */;
let vErrors = null;
let errors = 0;
const _errs3 = errors;
let valid1 = true;
const _errs4 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.kind === undefined) && (missing0 = "kind")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.kind !== undefined){
if("contains" !== data.kind){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs4 === errors;
errors = _errs3;
if(vErrors !== null){
if(_errs3){
vErrors.length = _errs3;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs6 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err2 = {instancePath,schemaPath:"#/allOf/0/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.params !== undefined){
let data1 = data.params;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.text === undefined){
const err3 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/0/then/properties/params/required",keyword:"required",params:{missingProperty: "text"},message:"must have required property '"+"text"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key0 in data1){
if(!(((key0 === "text") || (key0 === "in")) || (key0 === "case_sensitive"))){
const err4 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/0/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.text !== undefined){
if(typeof data1.text !== "string"){
const err5 = {instancePath:instancePath+"/params/text",schemaPath:"#/allOf/0/then/properties/params/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.in !== undefined){
let data3 = data1.in;
if(typeof data3 !== "string"){
const err6 = {instancePath:instancePath+"/params/in",schemaPath:"#/allOf/0/then/properties/params/properties/in/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(((data3 === "agent") || (data3 === "user")) || (data3 === "any"))){
const err7 = {instancePath:instancePath+"/params/in",schemaPath:"#/allOf/0/then/properties/params/properties/in/enum",keyword:"enum",params:{allowedValues: schema26.allOf[0].then.properties.params.properties.in.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.case_sensitive !== undefined){
if(typeof data1.case_sensitive !== "boolean"){
const err8 = {instancePath:instancePath+"/params/case_sensitive",schemaPath:"#/allOf/0/then/properties/params/properties/case_sensitive/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/0/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
var _valid0 = _errs6 === errors;
valid1 = _valid0;
}
if(!valid1){
const err10 = {instancePath,schemaPath:"#/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const _errs17 = errors;
let valid5 = true;
const _errs18 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.kind === undefined) && (missing1 = "kind")){
const err11 = {};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
else {
if(data.kind !== undefined){
if("regex" !== data.kind){
const err12 = {};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
var _valid1 = _errs18 === errors;
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs20 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err13 = {instancePath,schemaPath:"#/allOf/1/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data.params !== undefined){
let data6 = data.params;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.pattern === undefined){
const err14 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/1/then/properties/params/required",keyword:"required",params:{missingProperty: "pattern"},message:"must have required property '"+"pattern"+"'"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
for(const key1 in data6){
if(!(((key1 === "pattern") || (key1 === "flags")) || (key1 === "in"))){
const err15 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/1/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data6.pattern !== undefined){
if(typeof data6.pattern !== "string"){
const err16 = {instancePath:instancePath+"/params/pattern",schemaPath:"#/allOf/1/then/properties/params/properties/pattern/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data6.flags !== undefined){
let data8 = data6.flags;
if(typeof data8 === "string"){
if(!pattern0.test(data8)){
const err17 = {instancePath:instancePath+"/params/flags",schemaPath:"#/allOf/1/then/properties/params/properties/flags/pattern",keyword:"pattern",params:{pattern: "^[imsu]*$"},message:"must match pattern \""+"^[imsu]*$"+"\""};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/params/flags",schemaPath:"#/allOf/1/then/properties/params/properties/flags/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data6.in !== undefined){
let data9 = data6.in;
if(typeof data9 !== "string"){
const err19 = {instancePath:instancePath+"/params/in",schemaPath:"#/allOf/1/then/properties/params/properties/in/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(!(((data9 === "agent") || (data9 === "user")) || (data9 === "any"))){
const err20 = {instancePath:instancePath+"/params/in",schemaPath:"#/allOf/1/then/properties/params/properties/in/enum",keyword:"enum",params:{allowedValues: schema26.allOf[1].then.properties.params.properties.in.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/1/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
var _valid1 = _errs20 === errors;
valid5 = _valid1;
}
if(!valid5){
const err22 = {instancePath,schemaPath:"#/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const _errs31 = errors;
let valid9 = true;
const _errs32 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing2;
if((data.kind === undefined) && (missing2 = "kind")){
const err23 = {};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
else {
if(data.kind !== undefined){
if("tool_called" !== data.kind){
const err24 = {};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
}
var _valid2 = _errs32 === errors;
errors = _errs31;
if(vErrors !== null){
if(_errs31){
vErrors.length = _errs31;
}
else {
vErrors = null;
}
}
if(_valid2){
const _errs34 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err25 = {instancePath,schemaPath:"#/allOf/2/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(data.params !== undefined){
let data11 = data.params;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.name === undefined){
const err26 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/2/then/properties/params/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
for(const key2 in data11){
if(!(key2 === "name")){
const err27 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/2/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data11.name !== undefined){
if(typeof data11.name !== "string"){
const err28 = {instancePath:instancePath+"/params/name",schemaPath:"#/allOf/2/then/properties/params/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/2/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
var _valid2 = _errs34 === errors;
valid9 = _valid2;
}
if(!valid9){
const err30 = {instancePath,schemaPath:"#/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
const _errs41 = errors;
let valid13 = true;
const _errs42 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing3;
if((data.kind === undefined) && (missing3 = "kind")){
const err31 = {};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
else {
if(data.kind !== undefined){
if("tool_args" !== data.kind){
const err32 = {};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
}
var _valid3 = _errs42 === errors;
errors = _errs41;
if(vErrors !== null){
if(_errs41){
vErrors.length = _errs41;
}
else {
vErrors = null;
}
}
if(_valid3){
const _errs44 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err33 = {instancePath,schemaPath:"#/allOf/3/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(data.params !== undefined){
let data14 = data.params;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.name === undefined){
const err34 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/3/then/properties/params/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data14.arguments === undefined){
const err35 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/3/then/properties/params/required",keyword:"required",params:{missingProperty: "arguments"},message:"must have required property '"+"arguments"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
for(const key3 in data14){
if(!((key3 === "name") || (key3 === "arguments"))){
const err36 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/3/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data14.name !== undefined){
if(typeof data14.name !== "string"){
const err37 = {instancePath:instancePath+"/params/name",schemaPath:"#/allOf/3/then/properties/params/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data14.arguments !== undefined){
let data16 = data14.arguments;
if(!(data16 && typeof data16 == "object" && !Array.isArray(data16))){
const err38 = {instancePath:instancePath+"/params/arguments",schemaPath:"#/allOf/3/then/properties/params/properties/arguments/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
}
else {
const err39 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/3/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
var _valid3 = _errs44 === errors;
valid13 = _valid3;
}
if(!valid13){
const err40 = {instancePath,schemaPath:"#/allOf/3/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
const _errs53 = errors;
let valid17 = true;
const _errs54 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing4;
if((data.kind === undefined) && (missing4 = "kind")){
const err41 = {};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
else {
if(data.kind !== undefined){
if("tool_order" !== data.kind){
const err42 = {};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
}
}
var _valid4 = _errs54 === errors;
errors = _errs53;
if(vErrors !== null){
if(_errs53){
vErrors.length = _errs53;
}
else {
vErrors = null;
}
}
if(_valid4){
const _errs56 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err43 = {instancePath,schemaPath:"#/allOf/4/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(data.params !== undefined){
let data18 = data.params;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.names === undefined){
const err44 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/4/then/properties/params/required",keyword:"required",params:{missingProperty: "names"},message:"must have required property '"+"names"+"'"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
for(const key4 in data18){
if(!(key4 === "names")){
const err45 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/4/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data18.names !== undefined){
let data19 = data18.names;
if(Array.isArray(data19)){
if(data19.length < 1){
const err46 = {instancePath:instancePath+"/params/names",schemaPath:"#/allOf/4/then/properties/params/properties/names/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
const len0 = data19.length;
for(let i0=0; i0<len0; i0++){
if(typeof data19[i0] !== "string"){
const err47 = {instancePath:instancePath+"/params/names/" + i0,schemaPath:"#/allOf/4/then/properties/params/properties/names/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath:instancePath+"/params/names",schemaPath:"#/allOf/4/then/properties/params/properties/names/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
}
else {
const err49 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/4/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
}
var _valid4 = _errs56 === errors;
valid17 = _valid4;
}
if(!valid17){
const err50 = {instancePath,schemaPath:"#/allOf/4/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
const _errs65 = errors;
let valid23 = true;
const _errs66 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing5;
if((data.kind === undefined) && (missing5 = "kind")){
const err51 = {};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
else {
if(data.kind !== undefined){
if("max_turns" !== data.kind){
const err52 = {};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
}
}
var _valid5 = _errs66 === errors;
errors = _errs65;
if(vErrors !== null){
if(_errs65){
vErrors.length = _errs65;
}
else {
vErrors = null;
}
}
if(_valid5){
const _errs68 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err53 = {instancePath,schemaPath:"#/allOf/5/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
if(data.params !== undefined){
let data22 = data.params;
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
if(data22.max === undefined){
const err54 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/5/then/properties/params/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
for(const key5 in data22){
if(!(key5 === "max")){
const err55 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/5/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
if(data22.max !== undefined){
let data23 = data22.max;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
const err56 = {instancePath:instancePath+"/params/max",schemaPath:"#/allOf/5/then/properties/params/properties/max/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 < 0 || isNaN(data23)){
const err57 = {instancePath:instancePath+"/params/max",schemaPath:"#/allOf/5/then/properties/params/properties/max/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
}
}
else {
const err58 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/5/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
}
var _valid5 = _errs68 === errors;
valid23 = _valid5;
}
if(!valid23){
const err59 = {instancePath,schemaPath:"#/allOf/5/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
const _errs75 = errors;
let valid27 = true;
const _errs76 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing6;
if((data.kind === undefined) && (missing6 = "kind")){
const err60 = {};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
else {
if(data.kind !== undefined){
if("max_latency" !== data.kind){
const err61 = {};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
}
}
var _valid6 = _errs76 === errors;
errors = _errs75;
if(vErrors !== null){
if(_errs75){
vErrors.length = _errs75;
}
else {
vErrors = null;
}
}
if(_valid6){
const _errs78 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err62 = {instancePath,schemaPath:"#/allOf/6/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
if(data.params !== undefined){
let data25 = data.params;
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
if(data25.ms === undefined){
const err63 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/6/then/properties/params/required",keyword:"required",params:{missingProperty: "ms"},message:"must have required property '"+"ms"+"'"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
for(const key6 in data25){
if(!(key6 === "ms")){
const err64 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/6/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
if(data25.ms !== undefined){
let data26 = data25.ms;
if((typeof data26 == "number") && (isFinite(data26))){
if(data26 < 0 || isNaN(data26)){
const err65 = {instancePath:instancePath+"/params/ms",schemaPath:"#/allOf/6/then/properties/params/properties/ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
else {
const err66 = {instancePath:instancePath+"/params/ms",schemaPath:"#/allOf/6/then/properties/params/properties/ms/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
}
else {
const err67 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/6/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
}
var _valid6 = _errs78 === errors;
valid27 = _valid6;
}
if(!valid27){
const err68 = {instancePath,schemaPath:"#/allOf/6/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
const _errs85 = errors;
let valid31 = true;
const _errs86 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing7;
if((data.kind === undefined) && (missing7 = "kind")){
const err69 = {};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
else {
if(data.kind !== undefined){
if("json_path" !== data.kind){
const err70 = {};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
}
}
var _valid7 = _errs86 === errors;
errors = _errs85;
if(vErrors !== null){
if(_errs85){
vErrors.length = _errs85;
}
else {
vErrors = null;
}
}
if(_valid7){
const _errs88 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err71 = {instancePath,schemaPath:"#/allOf/7/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
if(data.params !== undefined){
let data28 = data.params;
if(data28 && typeof data28 == "object" && !Array.isArray(data28)){
if(data28.path === undefined){
const err72 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/7/then/properties/params/required",keyword:"required",params:{missingProperty: "path"},message:"must have required property '"+"path"+"'"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
if(data28.equals === undefined){
const err73 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/7/then/properties/params/required",keyword:"required",params:{missingProperty: "equals"},message:"must have required property '"+"equals"+"'"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
for(const key7 in data28){
if(!((key7 === "path") || (key7 === "equals"))){
const err74 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/7/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data28.path !== undefined){
if(typeof data28.path !== "string"){
const err75 = {instancePath:instancePath+"/params/path",schemaPath:"#/allOf/7/then/properties/params/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
}
else {
const err76 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/7/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
}
var _valid7 = _errs88 === errors;
valid31 = _valid7;
}
if(!valid31){
const err77 = {instancePath,schemaPath:"#/allOf/7/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
const _errs95 = errors;
let valid35 = true;
const _errs96 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing8;
if((data.kind === undefined) && (missing8 = "kind")){
const err78 = {};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
else {
if(data.kind !== undefined){
if("evaluation_metadata" !== data.kind){
const err79 = {};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
}
var _valid8 = _errs96 === errors;
errors = _errs95;
if(vErrors !== null){
if(_errs95){
vErrors.length = _errs95;
}
else {
vErrors = null;
}
}
if(_valid8){
const _errs98 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err80 = {instancePath,schemaPath:"#/allOf/8/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
if(data.params !== undefined){
let data31 = data.params;
if(data31 && typeof data31 == "object" && !Array.isArray(data31)){
if(data31.key === undefined){
const err81 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/8/then/properties/params/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
if(data31.equals === undefined){
const err82 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/8/then/properties/params/required",keyword:"required",params:{missingProperty: "equals"},message:"must have required property '"+"equals"+"'"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
for(const key8 in data31){
if(!((key8 === "key") || (key8 === "equals"))){
const err83 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/8/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data31.key !== undefined){
if(typeof data31.key !== "string"){
const err84 = {instancePath:instancePath+"/params/key",schemaPath:"#/allOf/8/then/properties/params/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
}
else {
const err85 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/8/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
}
var _valid8 = _errs98 === errors;
valid35 = _valid8;
}
if(!valid35){
const err86 = {instancePath,schemaPath:"#/allOf/8/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
const _errs105 = errors;
let valid39 = true;
const _errs106 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing9;
if((data.kind === undefined) && (missing9 = "kind")){
const err87 = {};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
else {
if(data.kind !== undefined){
if("judge" !== data.kind){
const err88 = {};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
}
}
var _valid9 = _errs106 === errors;
errors = _errs105;
if(vErrors !== null){
if(_errs105){
vErrors.length = _errs105;
}
else {
vErrors = null;
}
}
if(_valid9){
const _errs108 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.params === undefined){
const err89 = {instancePath,schemaPath:"#/allOf/9/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
if(data.params !== undefined){
let data34 = data.params;
if(data34 && typeof data34 == "object" && !Array.isArray(data34)){
if(data34.criteria === undefined){
const err90 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/9/then/properties/params/required",keyword:"required",params:{missingProperty: "criteria"},message:"must have required property '"+"criteria"+"'"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
for(const key9 in data34){
if(!((key9 === "criteria") || (key9 === "model"))){
const err91 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/9/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
if(data34.criteria !== undefined){
let data35 = data34.criteria;
if(typeof data35 === "string"){
if(!pattern1.test(data35)){
const err92 = {instancePath:instancePath+"/params/criteria",schemaPath:"#/allOf/9/then/properties/params/properties/criteria/pattern",keyword:"pattern",params:{pattern: "\\S"},message:"must match pattern \""+"\\S"+"\""};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
else {
const err93 = {instancePath:instancePath+"/params/criteria",schemaPath:"#/allOf/9/then/properties/params/properties/criteria/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
if(data34.model !== undefined){
if(typeof data34.model !== "string"){
const err94 = {instancePath:instancePath+"/params/model",schemaPath:"#/allOf/9/then/properties/params/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
}
else {
const err95 = {instancePath:instancePath+"/params",schemaPath:"#/allOf/9/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
}
var _valid9 = _errs108 === errors;
valid39 = _valid9;
}
if(!valid39){
const err96 = {instancePath,schemaPath:"#/allOf/9/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err97 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
if(data.name === undefined){
const err98 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
if(data.kind === undefined){
const err99 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
for(const key10 in data){
if(!(((((((key10 === "id") || (key10 === "name")) || (key10 === "category")) || (key10 === "type")) || (key10 === "kind")) || (key10 === "params")) || (key10 === "required"))){
const err100 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data.id !== undefined){
let data37 = data.id;
if(typeof data37 === "string"){
if(!pattern2.test(data37)){
const err101 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
else {
const err102 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
if(data.name !== undefined){
let data38 = data.name;
if(typeof data38 === "string"){
if(!pattern3.test(data38)){
const err103 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
else {
const err104 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
if(data.category !== undefined){
let data39 = data.category;
if(typeof data39 === "string"){
if(!pattern4.test(data39)){
const err105 = {instancePath:instancePath+"/category",schemaPath:"#/properties/category/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
else {
const err106 = {instancePath:instancePath+"/category",schemaPath:"#/properties/category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data.type !== undefined){
let data40 = data.type;
if(typeof data40 !== "string"){
const err107 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
if(!((data40 === "session_level") || (data40 === "turn_level"))){
const err108 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/enum",keyword:"enum",params:{allowedValues: schema26.properties.type.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
if(data.kind !== undefined){
let data41 = data.kind;
if(typeof data41 !== "string"){
const err109 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
if(!((((((((((data41 === "contains") || (data41 === "regex")) || (data41 === "tool_called")) || (data41 === "tool_args")) || (data41 === "tool_order")) || (data41 === "max_turns")) || (data41 === "max_latency")) || (data41 === "json_path")) || (data41 === "evaluation_metadata")) || (data41 === "judge"))){
const err110 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema26.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
if(data.params !== undefined){
let data42 = data.params;
if(!(data42 && typeof data42 == "object" && !Array.isArray(data42))){
const err111 = {instancePath:instancePath+"/params",schemaPath:"#/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
if(data.required !== undefined){
if(typeof data.required !== "boolean"){
const err112 = {instancePath:instancePath+"/required",schemaPath:"#/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
}
else {
const err113 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}

export const EvalOutcome = validate21;
const schema27 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"eval-outcome.schema.json","title":"EvalOutcome","$comment":"spec 2.6","description":"What one eval found of a session.","type":"object","required":["eval_name","eval_category","eval_type","outcome","reasoning"],"properties":{"eval_name":{"type":"string"},"eval_category":{"type":"string","description":"Free text."},"eval_type":{"type":"string","description":"session_level was seen; turn_level is ours."},"outcome":{"type":"string","description":"pass was seen; fail is ours."},"reasoning":{"type":"string"}},"examples":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"The agent named the status of the order."}],"x-near-misses":[{"breaks":"/reasoning","value":{"eval_name":"n","eval_category":"c","eval_type":"session_level","outcome":"pass"}}]};

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="eval-outcome.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.eval_name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "eval_name"},message:"must have required property '"+"eval_name"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.eval_category === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "eval_category"},message:"must have required property '"+"eval_category"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.eval_type === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "eval_type"},message:"must have required property '"+"eval_type"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.outcome === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.reasoning === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "reasoning"},message:"must have required property '"+"reasoning"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.eval_name !== undefined){
if(typeof data.eval_name !== "string"){
const err5 = {instancePath:instancePath+"/eval_name",schemaPath:"#/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.eval_category !== undefined){
if(typeof data.eval_category !== "string"){
const err6 = {instancePath:instancePath+"/eval_category",schemaPath:"#/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.eval_type !== undefined){
if(typeof data.eval_type !== "string"){
const err7 = {instancePath:instancePath+"/eval_type",schemaPath:"#/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.outcome !== undefined){
if(typeof data.outcome !== "string"){
const err8 = {instancePath:instancePath+"/outcome",schemaPath:"#/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.reasoning !== undefined){
if(typeof data.reasoning !== "string"){
const err9 = {instancePath:instancePath+"/reasoning",schemaPath:"#/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate21.errors = vErrors;
return errors === 0;
}

export const ExchangeRecord = validate22;
const schema28 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"exchange-record.schema.json","title":"ExchangeRecord","$comment":"ours; a line of a recording","description":"One HTTP request of a check run and what came of it, or one call: the WebSocket's upgrade and all that followed. Secrets are redacted before it is written.","type":"object","required":["record","id","scenario","step","endpoint","intent","request","startedMs","endedMs"],"additionalProperties":false,"properties":{"record":{"type":"string","const":"exchange"},"id":{"description":"1 for the first of the run.","type":"integer","minimum":1},"scenario":{"description":"Which scenario sent it.","type":"string"},"step":{"description":"What is special about this request.","type":"string"},"endpoint":{"title":"Endpoint","type":"string","enum":["chat","health","create","delete","traces","end","simulations","production","admin","voice"]},"intent":{"title":"Intent","description":"valid: must be accepted. refuse: one edit away from its control, must be refused. open: the specification does not say.","type":"string","enum":["valid","refuse","open"]},"control":{"description":"Id of the exchange that this one differs from in one edit.","type":"integer"},"request":{"title":"RecordedRequest","type":"object","required":["method","path","headers"],"additionalProperties":false,"properties":{"method":{"type":"string"},"path":{"type":"string"},"headers":{"$ref":"#/definitions/headers"},"body":{"description":"As text; of bytes that are no text, what they are; of a body too large to keep, its start.","type":"string"},"bodyBase64":{"description":"The bytes of a body that is no text, such as protobuf or gzip.","type":"string"},"bodyBytes":{"description":"The size of a body too large to keep; absent when the body is here.","type":"integer","minimum":0}}},"response":{"title":"RecordedResponse","type":"object","required":["status","headers","body"],"additionalProperties":false,"properties":{"status":{"type":"integer"},"headers":{"$ref":"#/definitions/headers"},"body":{"description":"As text, at most 4 MiB.","type":"string"}}},"failure":{"title":"ExchangeFailure","description":"Why there is no whole answer.","type":"object","required":["kind","message"],"additionalProperties":false,"properties":{"kind":{"title":"FailureKind","type":"string","enum":["unresolved","refused","tls","plain_http","timeout","reset","protocol","too_large"]},"message":{"type":"string"},"status":{"description":"The status, where one came.","type":"integer"}}},"call":{"title":"RecordedCall","description":"What followed the upgrade, of an exchange with the voice endpoint whose WebSocket opened.","type":"object","required":["events"],"additionalProperties":false,"properties":{"events":{"description":"In the order of their times; 2000 at most.","type":"array","items":{"$ref":"#/definitions/callEvent"}},"media":{"$ref":"#/definitions/callMedia"}}},"startedMs":{"description":"Milliseconds since the run began.","type":"number"},"endedMs":{"description":"Milliseconds since the run began.","type":"number"}},"definitions":{"callEvent":{"title":"CallEvent","description":"A message, the end of the WebSocket, or what became of the media.","type":"object","required":["atMs","from","kind"],"additionalProperties":false,"properties":{"atMs":{"description":"Milliseconds since the run began.","type":"number"},"from":{"type":"string","enum":["kit","sandbox"]},"kind":{"title":"CallEventKind","description":"answered: the offer was taken and the answer sent. unusable: the offer could not be taken. connected, unconnected: media could flow, or not within the time. speech, sound: what the kit said, what the sandbox let be heard; from atMs to untilMs. released: the kit gave its end of the media up.","type":"string","enum":["message","close","answered","unusable","connected","unconnected","speech","sound","released"]},"text":{"description":"Of a message, 65536 characters at most.","type":"string"},"bytes":{"description":"The size of a message too long to keep; absent when it is here as a whole.","type":"integer","minimum":0},"isBinary":{"description":"The message came in a binary frame.","type":"boolean"},"code":{"description":"The WebSocket's close code; 1006: there was none.","type":"integer"},"detail":{"description":"The reason of a close, why media failed, which clip was said.","type":"string"},"untilMs":{"description":"When speech or sound was over.","type":"number"}}},"callMedia":{"title":"CallMedia","description":"The audio that came, and how well the kit itself kept time.","type":"object","required":["payloadType","hasPath","packets","roundTripsMs","sent","lateMs"],"additionalProperties":false,"properties":{"payloadType":{"description":"Of Opus, as offered and answered; absent in the answer: -1.","type":"integer"},"hasPath":{"description":"The sandbox tried the path with the answer's keys (ICE).","type":"boolean"},"packets":{"description":"In the order of arrival; 20000 at most.","type":"array","items":{"$ref":"#/definitions/callPacket"}},"roundTripsMs":{"description":"Of STUN requests on the path of the media, in the order of asking.","type":"array","items":{"type":"number"}},"sent":{"description":"Packets that the kit sent.","type":"integer","minimum":0},"lateMs":{"description":"How late the kit itself sent the latest one in a hundred of its packets.","type":"number"}}},"callPacket":{"title":"CallPacket","type":"object","required":["atMs","sequence","timestamp","payloadType","ssrc","bytes","ticks"],"additionalProperties":false,"properties":{"atMs":{"description":"When it came, in milliseconds since the run began.","type":"number"},"sequence":{"type":"integer"},"timestamp":{"type":"integer"},"payloadType":{"type":"integer"},"ssrc":{"type":"integer"},"bytes":{"description":"Of its payload.","type":"integer"},"ticks":{"description":"Sound that is in it, in 1/48000 s; 0 where it is no packet of Opus.","type":"integer"},"levelsDb":{"description":"How loud each 10 ms of it are, in dB below the loudest sine, -127 of silence; absent where it does not decode.","type":"array","items":{"type":"number"}}}},"headers":{"title":"RecordedHeaders","description":"Lower-case names; a repeated header is joined by a comma.","type":"object","additionalProperties":{"type":"string"}}},"examples":[{"record":"exchange","id":1,"scenario":"chat/forms","step":"minimal","endpoint":"chat","intent":"valid","request":{"method":"POST","path":"/v1/chat/completions","headers":{"content-type":"application/json","authorization":"Bearer <redacted>"},"body":"{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"},"response":{"status":200,"headers":{},"body":"{\"choices\":[]}"},"startedMs":12.5,"endedMs":20},{"record":"exchange","id":2,"scenario":"health/plain","step":"plain","endpoint":"health","intent":"valid","request":{"method":"GET","path":"/health","headers":{}},"failure":{"kind":"timeout","message":"no answer within 10000 ms"},"startedMs":12.5,"endedMs":10013},{"record":"exchange","id":3,"scenario":"service/conversations","step":"protobuf","endpoint":"traces","intent":"valid","request":{"method":"POST","path":"/v1/traces","headers":{"content-type":"application/x-protobuf","x-service-api-key":"<redacted>"},"body":"2 bytes of application/x-protobuf","bodyBase64":"CgA="},"response":{"status":200,"headers":{},"body":""},"startedMs":30,"endedMs":32.5},{"record":"exchange","id":4,"scenario":"voice/forms","step":"minimal","endpoint":"voice","intent":"valid","request":{"method":"GET","path":"/voice","headers":{"sec-websocket-protocol":"voice-agent"}},"response":{"status":101,"headers":{"sec-websocket-protocol":"voice-agent"},"body":""},"call":{"events":[{"atMs":41,"from":"kit","kind":"message","text":"{\"type\":\"start_call\",\"audio_config\":{\"codec\":\"opus\"}}"},{"atMs":60,"from":"kit","kind":"close","code":1000},{"atMs":61,"from":"sandbox","kind":"close","code":1000,"detail":""}],"media":{"payloadType":111,"hasPath":true,"packets":[{"atMs":50,"sequence":1,"timestamp":960,"payloadType":111,"ssrc":7,"bytes":80,"ticks":960,"levelsDb":[-127,-31]}],"roundTripsMs":[0.7],"sent":4,"lateMs":1.5}},"startedMs":40,"endedMs":62}],"x-near-misses":[{"breaks":"/endpoint","value":{"record":"exchange","id":3}},{"breaks":"/call/events","value":{"record":"exchange","id":3,"call":{}}}]};
const schema29 = {"title":"RecordedHeaders","description":"Lower-case names; a repeated header is joined by a comma.","type":"object","additionalProperties":{"type":"string"}};
const schema31 = {"title":"CallEvent","description":"A message, the end of the WebSocket, or what became of the media.","type":"object","required":["atMs","from","kind"],"additionalProperties":false,"properties":{"atMs":{"description":"Milliseconds since the run began.","type":"number"},"from":{"type":"string","enum":["kit","sandbox"]},"kind":{"title":"CallEventKind","description":"answered: the offer was taken and the answer sent. unusable: the offer could not be taken. connected, unconnected: media could flow, or not within the time. speech, sound: what the kit said, what the sandbox let be heard; from atMs to untilMs. released: the kit gave its end of the media up.","type":"string","enum":["message","close","answered","unusable","connected","unconnected","speech","sound","released"]},"text":{"description":"Of a message, 65536 characters at most.","type":"string"},"bytes":{"description":"The size of a message too long to keep; absent when it is here as a whole.","type":"integer","minimum":0},"isBinary":{"description":"The message came in a binary frame.","type":"boolean"},"code":{"description":"The WebSocket's close code; 1006: there was none.","type":"integer"},"detail":{"description":"The reason of a close, why media failed, which clip was said.","type":"string"},"untilMs":{"description":"When speech or sound was over.","type":"number"}}};
const func2 = Object.prototype.hasOwnProperty;
const schema32 = {"title":"CallMedia","description":"The audio that came, and how well the kit itself kept time.","type":"object","required":["payloadType","hasPath","packets","roundTripsMs","sent","lateMs"],"additionalProperties":false,"properties":{"payloadType":{"description":"Of Opus, as offered and answered; absent in the answer: -1.","type":"integer"},"hasPath":{"description":"The sandbox tried the path with the answer's keys (ICE).","type":"boolean"},"packets":{"description":"In the order of arrival; 20000 at most.","type":"array","items":{"$ref":"#/definitions/callPacket"}},"roundTripsMs":{"description":"Of STUN requests on the path of the media, in the order of asking.","type":"array","items":{"type":"number"}},"sent":{"description":"Packets that the kit sent.","type":"integer","minimum":0},"lateMs":{"description":"How late the kit itself sent the latest one in a hundred of its packets.","type":"number"}}};
const schema33 = {"title":"CallPacket","type":"object","required":["atMs","sequence","timestamp","payloadType","ssrc","bytes","ticks"],"additionalProperties":false,"properties":{"atMs":{"description":"When it came, in milliseconds since the run began.","type":"number"},"sequence":{"type":"integer"},"timestamp":{"type":"integer"},"payloadType":{"type":"integer"},"ssrc":{"type":"integer"},"bytes":{"description":"Of its payload.","type":"integer"},"ticks":{"description":"Sound that is in it, in 1/48000 s; 0 where it is no packet of Opus.","type":"integer"},"levelsDb":{"description":"How loud each 10 ms of it are, in dB below the loudest sine, -127 of silence; absent where it does not decode.","type":"array","items":{"type":"number"}}}};

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.payloadType === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "payloadType"},message:"must have required property '"+"payloadType"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.hasPath === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "hasPath"},message:"must have required property '"+"hasPath"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.packets === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "packets"},message:"must have required property '"+"packets"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.roundTripsMs === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "roundTripsMs"},message:"must have required property '"+"roundTripsMs"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.sent === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sent"},message:"must have required property '"+"sent"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.lateMs === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "lateMs"},message:"must have required property '"+"lateMs"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "payloadType") || (key0 === "hasPath")) || (key0 === "packets")) || (key0 === "roundTripsMs")) || (key0 === "sent")) || (key0 === "lateMs"))){
const err6 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.payloadType !== undefined){
let data0 = data.payloadType;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err7 = {instancePath:instancePath+"/payloadType",schemaPath:"#/properties/payloadType/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.hasPath !== undefined){
if(typeof data.hasPath !== "boolean"){
const err8 = {instancePath:instancePath+"/hasPath",schemaPath:"#/properties/hasPath/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.packets !== undefined){
let data2 = data.packets;
if(Array.isArray(data2)){
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.atMs === undefined){
const err9 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "atMs"},message:"must have required property '"+"atMs"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data3.sequence === undefined){
const err10 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "sequence"},message:"must have required property '"+"sequence"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3.timestamp === undefined){
const err11 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "timestamp"},message:"must have required property '"+"timestamp"+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data3.payloadType === undefined){
const err12 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "payloadType"},message:"must have required property '"+"payloadType"+"'"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data3.ssrc === undefined){
const err13 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "ssrc"},message:"must have required property '"+"ssrc"+"'"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data3.bytes === undefined){
const err14 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "bytes"},message:"must have required property '"+"bytes"+"'"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data3.ticks === undefined){
const err15 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/required",keyword:"required",params:{missingProperty: "ticks"},message:"must have required property '"+"ticks"+"'"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
for(const key1 in data3){
if(!((((((((key1 === "atMs") || (key1 === "sequence")) || (key1 === "timestamp")) || (key1 === "payloadType")) || (key1 === "ssrc")) || (key1 === "bytes")) || (key1 === "ticks")) || (key1 === "levelsDb"))){
const err16 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data3.atMs !== undefined){
let data4 = data3.atMs;
if(!((typeof data4 == "number") && (isFinite(data4)))){
const err17 = {instancePath:instancePath+"/packets/" + i0+"/atMs",schemaPath:"#/definitions/callPacket/properties/atMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data3.sequence !== undefined){
let data5 = data3.sequence;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err18 = {instancePath:instancePath+"/packets/" + i0+"/sequence",schemaPath:"#/definitions/callPacket/properties/sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data3.timestamp !== undefined){
let data6 = data3.timestamp;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err19 = {instancePath:instancePath+"/packets/" + i0+"/timestamp",schemaPath:"#/definitions/callPacket/properties/timestamp/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data3.payloadType !== undefined){
let data7 = data3.payloadType;
if(!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))){
const err20 = {instancePath:instancePath+"/packets/" + i0+"/payloadType",schemaPath:"#/definitions/callPacket/properties/payloadType/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data3.ssrc !== undefined){
let data8 = data3.ssrc;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
const err21 = {instancePath:instancePath+"/packets/" + i0+"/ssrc",schemaPath:"#/definitions/callPacket/properties/ssrc/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data3.bytes !== undefined){
let data9 = data3.bytes;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err22 = {instancePath:instancePath+"/packets/" + i0+"/bytes",schemaPath:"#/definitions/callPacket/properties/bytes/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data3.ticks !== undefined){
let data10 = data3.ticks;
if(!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))){
const err23 = {instancePath:instancePath+"/packets/" + i0+"/ticks",schemaPath:"#/definitions/callPacket/properties/ticks/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data3.levelsDb !== undefined){
let data11 = data3.levelsDb;
if(Array.isArray(data11)){
const len1 = data11.length;
for(let i1=0; i1<len1; i1++){
let data12 = data11[i1];
if(!((typeof data12 == "number") && (isFinite(data12)))){
const err24 = {instancePath:instancePath+"/packets/" + i0+"/levelsDb/" + i1,schemaPath:"#/definitions/callPacket/properties/levelsDb/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath:instancePath+"/packets/" + i0+"/levelsDb",schemaPath:"#/definitions/callPacket/properties/levelsDb/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/packets/" + i0,schemaPath:"#/definitions/callPacket/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
else {
const err27 = {instancePath:instancePath+"/packets",schemaPath:"#/properties/packets/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.roundTripsMs !== undefined){
let data13 = data.roundTripsMs;
if(Array.isArray(data13)){
const len2 = data13.length;
for(let i2=0; i2<len2; i2++){
let data14 = data13[i2];
if(!((typeof data14 == "number") && (isFinite(data14)))){
const err28 = {instancePath:instancePath+"/roundTripsMs/" + i2,schemaPath:"#/properties/roundTripsMs/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/roundTripsMs",schemaPath:"#/properties/roundTripsMs/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.sent !== undefined){
let data15 = data.sent;
if(!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))){
const err30 = {instancePath:instancePath+"/sent",schemaPath:"#/properties/sent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 < 0 || isNaN(data15)){
const err31 = {instancePath:instancePath+"/sent",schemaPath:"#/properties/sent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
if(data.lateMs !== undefined){
let data16 = data.lateMs;
if(!((typeof data16 == "number") && (isFinite(data16)))){
const err32 = {instancePath:instancePath+"/lateMs",schemaPath:"#/properties/lateMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
validate23.errors = vErrors;
return errors === 0;
}


function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="exchange-record.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.record === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "record"},message:"must have required property '"+"record"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.scenario === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scenario"},message:"must have required property '"+"scenario"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.step === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "step"},message:"must have required property '"+"step"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.endpoint === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endpoint"},message:"must have required property '"+"endpoint"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.intent === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "intent"},message:"must have required property '"+"intent"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.request === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "request"},message:"must have required property '"+"request"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.startedMs === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "startedMs"},message:"must have required property '"+"startedMs"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.endedMs === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endedMs"},message:"must have required property '"+"endedMs"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema28.properties, key0))){
const err9 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.record !== undefined){
let data0 = data.record;
if(typeof data0 !== "string"){
const err10 = {instancePath:instancePath+"/record",schemaPath:"#/properties/record/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if("exchange" !== data0){
const err11 = {instancePath:instancePath+"/record",schemaPath:"#/properties/record/const",keyword:"const",params:{allowedValue: "exchange"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.id !== undefined){
let data1 = data.id;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err12 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err13 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
if(data.scenario !== undefined){
if(typeof data.scenario !== "string"){
const err14 = {instancePath:instancePath+"/scenario",schemaPath:"#/properties/scenario/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.step !== undefined){
if(typeof data.step !== "string"){
const err15 = {instancePath:instancePath+"/step",schemaPath:"#/properties/step/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.endpoint !== undefined){
let data4 = data.endpoint;
if(typeof data4 !== "string"){
const err16 = {instancePath:instancePath+"/endpoint",schemaPath:"#/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(!((((((((((data4 === "chat") || (data4 === "health")) || (data4 === "create")) || (data4 === "delete")) || (data4 === "traces")) || (data4 === "end")) || (data4 === "simulations")) || (data4 === "production")) || (data4 === "admin")) || (data4 === "voice"))){
const err17 = {instancePath:instancePath+"/endpoint",schemaPath:"#/properties/endpoint/enum",keyword:"enum",params:{allowedValues: schema28.properties.endpoint.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.intent !== undefined){
let data5 = data.intent;
if(typeof data5 !== "string"){
const err18 = {instancePath:instancePath+"/intent",schemaPath:"#/properties/intent/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!(((data5 === "valid") || (data5 === "refuse")) || (data5 === "open"))){
const err19 = {instancePath:instancePath+"/intent",schemaPath:"#/properties/intent/enum",keyword:"enum",params:{allowedValues: schema28.properties.intent.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.control !== undefined){
let data6 = data.control;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err20 = {instancePath:instancePath+"/control",schemaPath:"#/properties/control/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.request !== undefined){
let data7 = data.request;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.method === undefined){
const err21 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/required",keyword:"required",params:{missingProperty: "method"},message:"must have required property '"+"method"+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data7.path === undefined){
const err22 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/required",keyword:"required",params:{missingProperty: "path"},message:"must have required property '"+"path"+"'"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data7.headers === undefined){
const err23 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/required",keyword:"required",params:{missingProperty: "headers"},message:"must have required property '"+"headers"+"'"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
for(const key1 in data7){
if(!((((((key1 === "method") || (key1 === "path")) || (key1 === "headers")) || (key1 === "body")) || (key1 === "bodyBase64")) || (key1 === "bodyBytes"))){
const err24 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data7.method !== undefined){
if(typeof data7.method !== "string"){
const err25 = {instancePath:instancePath+"/request/method",schemaPath:"#/properties/request/properties/method/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data7.path !== undefined){
if(typeof data7.path !== "string"){
const err26 = {instancePath:instancePath+"/request/path",schemaPath:"#/properties/request/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data7.headers !== undefined){
let data10 = data7.headers;
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
for(const key2 in data10){
if(typeof data10[key2] !== "string"){
const err27 = {instancePath:instancePath+"/request/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/request/headers",schemaPath:"#/definitions/headers/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data7.body !== undefined){
if(typeof data7.body !== "string"){
const err29 = {instancePath:instancePath+"/request/body",schemaPath:"#/properties/request/properties/body/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data7.bodyBase64 !== undefined){
if(typeof data7.bodyBase64 !== "string"){
const err30 = {instancePath:instancePath+"/request/bodyBase64",schemaPath:"#/properties/request/properties/bodyBase64/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data7.bodyBytes !== undefined){
let data14 = data7.bodyBytes;
if(!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))){
const err31 = {instancePath:instancePath+"/request/bodyBytes",schemaPath:"#/properties/request/properties/bodyBytes/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 < 0 || isNaN(data14)){
const err32 = {instancePath:instancePath+"/request/bodyBytes",schemaPath:"#/properties/request/properties/bodyBytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
}
else {
const err33 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.response !== undefined){
let data15 = data.response;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
if(data15.status === undefined){
const err34 = {instancePath:instancePath+"/response",schemaPath:"#/properties/response/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data15.headers === undefined){
const err35 = {instancePath:instancePath+"/response",schemaPath:"#/properties/response/required",keyword:"required",params:{missingProperty: "headers"},message:"must have required property '"+"headers"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if(data15.body === undefined){
const err36 = {instancePath:instancePath+"/response",schemaPath:"#/properties/response/required",keyword:"required",params:{missingProperty: "body"},message:"must have required property '"+"body"+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
for(const key3 in data15){
if(!(((key3 === "status") || (key3 === "headers")) || (key3 === "body"))){
const err37 = {instancePath:instancePath+"/response",schemaPath:"#/properties/response/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data15.status !== undefined){
let data16 = data15.status;
if(!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))){
const err38 = {instancePath:instancePath+"/response/status",schemaPath:"#/properties/response/properties/status/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data15.headers !== undefined){
let data17 = data15.headers;
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
for(const key4 in data17){
if(typeof data17[key4] !== "string"){
const err39 = {instancePath:instancePath+"/response/headers/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath:instancePath+"/response/headers",schemaPath:"#/definitions/headers/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data15.body !== undefined){
if(typeof data15.body !== "string"){
const err41 = {instancePath:instancePath+"/response/body",schemaPath:"#/properties/response/properties/body/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
}
else {
const err42 = {instancePath:instancePath+"/response",schemaPath:"#/properties/response/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data.failure !== undefined){
let data20 = data.failure;
if(data20 && typeof data20 == "object" && !Array.isArray(data20)){
if(data20.kind === undefined){
const err43 = {instancePath:instancePath+"/failure",schemaPath:"#/properties/failure/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(data20.message === undefined){
const err44 = {instancePath:instancePath+"/failure",schemaPath:"#/properties/failure/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
for(const key5 in data20){
if(!(((key5 === "kind") || (key5 === "message")) || (key5 === "status"))){
const err45 = {instancePath:instancePath+"/failure",schemaPath:"#/properties/failure/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data20.kind !== undefined){
let data21 = data20.kind;
if(typeof data21 !== "string"){
const err46 = {instancePath:instancePath+"/failure/kind",schemaPath:"#/properties/failure/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if(!((((((((data21 === "unresolved") || (data21 === "refused")) || (data21 === "tls")) || (data21 === "plain_http")) || (data21 === "timeout")) || (data21 === "reset")) || (data21 === "protocol")) || (data21 === "too_large"))){
const err47 = {instancePath:instancePath+"/failure/kind",schemaPath:"#/properties/failure/properties/kind/enum",keyword:"enum",params:{allowedValues: schema28.properties.failure.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data20.message !== undefined){
if(typeof data20.message !== "string"){
const err48 = {instancePath:instancePath+"/failure/message",schemaPath:"#/properties/failure/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data20.status !== undefined){
let data23 = data20.status;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
const err49 = {instancePath:instancePath+"/failure/status",schemaPath:"#/properties/failure/properties/status/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
}
else {
const err50 = {instancePath:instancePath+"/failure",schemaPath:"#/properties/failure/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data.call !== undefined){
let data24 = data.call;
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
if(data24.events === undefined){
const err51 = {instancePath:instancePath+"/call",schemaPath:"#/properties/call/required",keyword:"required",params:{missingProperty: "events"},message:"must have required property '"+"events"+"'"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
for(const key6 in data24){
if(!((key6 === "events") || (key6 === "media"))){
const err52 = {instancePath:instancePath+"/call",schemaPath:"#/properties/call/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data24.events !== undefined){
let data25 = data24.events;
if(Array.isArray(data25)){
const len0 = data25.length;
for(let i0=0; i0<len0; i0++){
let data26 = data25[i0];
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
if(data26.atMs === undefined){
const err53 = {instancePath:instancePath+"/call/events/" + i0,schemaPath:"#/definitions/callEvent/required",keyword:"required",params:{missingProperty: "atMs"},message:"must have required property '"+"atMs"+"'"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
if(data26.from === undefined){
const err54 = {instancePath:instancePath+"/call/events/" + i0,schemaPath:"#/definitions/callEvent/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
if(data26.kind === undefined){
const err55 = {instancePath:instancePath+"/call/events/" + i0,schemaPath:"#/definitions/callEvent/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
for(const key7 in data26){
if(!(func2.call(schema31.properties, key7))){
const err56 = {instancePath:instancePath+"/call/events/" + i0,schemaPath:"#/definitions/callEvent/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data26.atMs !== undefined){
let data27 = data26.atMs;
if(!((typeof data27 == "number") && (isFinite(data27)))){
const err57 = {instancePath:instancePath+"/call/events/" + i0+"/atMs",schemaPath:"#/definitions/callEvent/properties/atMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
if(data26.from !== undefined){
let data28 = data26.from;
if(typeof data28 !== "string"){
const err58 = {instancePath:instancePath+"/call/events/" + i0+"/from",schemaPath:"#/definitions/callEvent/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
if(!((data28 === "kit") || (data28 === "sandbox"))){
const err59 = {instancePath:instancePath+"/call/events/" + i0+"/from",schemaPath:"#/definitions/callEvent/properties/from/enum",keyword:"enum",params:{allowedValues: schema31.properties.from.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data26.kind !== undefined){
let data29 = data26.kind;
if(typeof data29 !== "string"){
const err60 = {instancePath:instancePath+"/call/events/" + i0+"/kind",schemaPath:"#/definitions/callEvent/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
if(!(((((((((data29 === "message") || (data29 === "close")) || (data29 === "answered")) || (data29 === "unusable")) || (data29 === "connected")) || (data29 === "unconnected")) || (data29 === "speech")) || (data29 === "sound")) || (data29 === "released"))){
const err61 = {instancePath:instancePath+"/call/events/" + i0+"/kind",schemaPath:"#/definitions/callEvent/properties/kind/enum",keyword:"enum",params:{allowedValues: schema31.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
if(data26.text !== undefined){
if(typeof data26.text !== "string"){
const err62 = {instancePath:instancePath+"/call/events/" + i0+"/text",schemaPath:"#/definitions/callEvent/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
if(data26.bytes !== undefined){
let data31 = data26.bytes;
if(!(((typeof data31 == "number") && (!(data31 % 1) && !isNaN(data31))) && (isFinite(data31)))){
const err63 = {instancePath:instancePath+"/call/events/" + i0+"/bytes",schemaPath:"#/definitions/callEvent/properties/bytes/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if((typeof data31 == "number") && (isFinite(data31))){
if(data31 < 0 || isNaN(data31)){
const err64 = {instancePath:instancePath+"/call/events/" + i0+"/bytes",schemaPath:"#/definitions/callEvent/properties/bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
}
if(data26.isBinary !== undefined){
if(typeof data26.isBinary !== "boolean"){
const err65 = {instancePath:instancePath+"/call/events/" + i0+"/isBinary",schemaPath:"#/definitions/callEvent/properties/isBinary/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
if(data26.code !== undefined){
let data33 = data26.code;
if(!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))){
const err66 = {instancePath:instancePath+"/call/events/" + i0+"/code",schemaPath:"#/definitions/callEvent/properties/code/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
if(data26.detail !== undefined){
if(typeof data26.detail !== "string"){
const err67 = {instancePath:instancePath+"/call/events/" + i0+"/detail",schemaPath:"#/definitions/callEvent/properties/detail/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data26.untilMs !== undefined){
let data35 = data26.untilMs;
if(!((typeof data35 == "number") && (isFinite(data35)))){
const err68 = {instancePath:instancePath+"/call/events/" + i0+"/untilMs",schemaPath:"#/definitions/callEvent/properties/untilMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
}
else {
const err69 = {instancePath:instancePath+"/call/events/" + i0,schemaPath:"#/definitions/callEvent/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
}
else {
const err70 = {instancePath:instancePath+"/call/events",schemaPath:"#/properties/call/properties/events/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
if(data24.media !== undefined){
if(!(validate23(data24.media, {instancePath:instancePath+"/call/media",parentData:data24,parentDataProperty:"media",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
}
else {
const err71 = {instancePath:instancePath+"/call",schemaPath:"#/properties/call/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data.startedMs !== undefined){
let data37 = data.startedMs;
if(!((typeof data37 == "number") && (isFinite(data37)))){
const err72 = {instancePath:instancePath+"/startedMs",schemaPath:"#/properties/startedMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data.endedMs !== undefined){
let data38 = data.endedMs;
if(!((typeof data38 == "number") && (isFinite(data38)))){
const err73 = {instancePath:instancePath+"/endedMs",schemaPath:"#/properties/endedMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
}
else {
const err74 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}

export const Health = validate25;
const schema34 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"health.schema.json","title":"Health","$comment":"spec 2.10","description":"What the sandbox answers to GET /health. Healthy and degraded come with 200, unhealthy with 503.","type":"object","required":["status","timestamp"],"properties":{"status":{"type":"string","enum":["healthy","degraded","unhealthy"]},"timestamp":{"type":"string","format":"iso8601"},"version":{"description":"Version of the customer's agent.","type":"string"},"uptime":{"description":"Seconds.","type":"integer"},"webrtc_status":{"description":"For voice agents; operational was seen.","type":"string"},"dependencies":{"title":"Dependencies","type":"object","properties":{"database":{"$ref":"#/definitions/dependency"},"llm_service":{"$ref":"#/definitions/dependency"},"external_apis":{"$ref":"#/definitions/dependency"}}},"metrics":{"title":"Metrics","type":"object","properties":{"response_time_avg":{"description":"Milliseconds.","type":"number"},"error_rate":{"$ref":"#/definitions/percentage"},"memory_usage":{"$ref":"#/definitions/percentage"},"cpu_usage":{"$ref":"#/definitions/percentage"}}},"error":{"title":"HealthFailure","description":"What is wrong; only when unhealthy.","type":"object","required":["message","details"],"properties":{"message":{},"details":{}}}},"if":{"required":["status"],"properties":{"status":{"enum":["healthy","degraded"]}}},"then":{"properties":{"error":false}},"definitions":{"dependency":{"title":"DependencyStatus","type":"string","enum":["healthy","unhealthy"]},"percentage":{"title":"Percentage","description":"Percentage, 0 to 100.","type":"number","minimum":0,"maximum":100}},"examples":[{"status":"healthy","timestamp":"2026-11-20T09:30:00Z"},{"status":"degraded","timestamp":"2026-11-20T09:30:00+00:00","version":"1.4.2","uptime":86400,"webrtc_status":"operational","dependencies":{"database":"healthy","llm_service":"healthy","external_apis":"unhealthy"},"metrics":{"response_time_avg":312.5,"error_rate":0.4,"memory_usage":61,"cpu_usage":12.5}},{"status":"unhealthy","timestamp":"2026-11-20T09:30:00Z","error":{"message":"The database does not answer.","details":{"database":"timeout"}}}],"x-near-misses":[{"breaks":"/status","value":{"status":"ok","timestamp":"2026-11-20T09:30:00Z"}},{"breaks":"/timestamp","value":{"status":"healthy"}},{"breaks":"/timestamp","value":{"status":"healthy","timestamp":"2026-11-20 09:30"}},{"breaks":"/uptime","value":{"status":"healthy","timestamp":"2026-11-20T09:30:00Z","uptime":"1 day"}},{"breaks":"/metrics/cpu_usage","value":{"status":"healthy","timestamp":"2026-11-20T09:30:00Z","metrics":{"cpu_usage":250}}},{"breaks":"/dependencies/database","value":{"status":"healthy","timestamp":"2026-11-20T09:30:00Z","dependencies":{"database":"degraded"}}},{"breaks":"/error","value":{"status":"healthy","timestamp":"2026-11-20T09:30:00Z","error":{"message":"none","details":"none"}}}]};
const schema35 = {"title":"DependencyStatus","type":"string","enum":["healthy","unhealthy"]};
const schema38 = {"title":"Percentage","description":"Percentage, 0 to 100.","type":"number","minimum":0,"maximum":100};

function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="health.schema.json" */;
let vErrors = null;
let errors = 0;
const _errs2 = errors;
let valid0 = true;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.status === undefined) && (missing0 = "status")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.status !== undefined){
let data0 = data.status;
if(!((data0 === "healthy") || (data0 === "degraded"))){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs3 === errors;
errors = _errs2;
if(vErrors !== null){
if(_errs2){
vErrors.length = _errs2;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs5 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.error !== undefined){
const err2 = {instancePath:instancePath+"/error",schemaPath:"#/then/properties/error/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
valid0 = _valid0;
}
if(!valid0){
const err3 = {instancePath,schemaPath:"#/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.status === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.timestamp === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "timestamp"},message:"must have required property '"+"timestamp"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.status !== undefined){
let data2 = data.status;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(((data2 === "healthy") || (data2 === "degraded")) || (data2 === "unhealthy"))){
const err7 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/enum",keyword:"enum",params:{allowedValues: schema34.properties.status.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.timestamp !== undefined){
let data3 = data.timestamp;
if(typeof data3 === "string"){
if(!(formats0.test(data3))){
const err8 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.version !== undefined){
if(typeof data.version !== "string"){
const err10 = {instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.uptime !== undefined){
let data5 = data.uptime;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err11 = {instancePath:instancePath+"/uptime",schemaPath:"#/properties/uptime/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.webrtc_status !== undefined){
if(typeof data.webrtc_status !== "string"){
const err12 = {instancePath:instancePath+"/webrtc_status",schemaPath:"#/properties/webrtc_status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.dependencies !== undefined){
let data7 = data.dependencies;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.database !== undefined){
let data8 = data7.database;
if(typeof data8 !== "string"){
const err13 = {instancePath:instancePath+"/dependencies/database",schemaPath:"#/definitions/dependency/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!((data8 === "healthy") || (data8 === "unhealthy"))){
const err14 = {instancePath:instancePath+"/dependencies/database",schemaPath:"#/definitions/dependency/enum",keyword:"enum",params:{allowedValues: schema35.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data7.llm_service !== undefined){
let data9 = data7.llm_service;
if(typeof data9 !== "string"){
const err15 = {instancePath:instancePath+"/dependencies/llm_service",schemaPath:"#/definitions/dependency/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(!((data9 === "healthy") || (data9 === "unhealthy"))){
const err16 = {instancePath:instancePath+"/dependencies/llm_service",schemaPath:"#/definitions/dependency/enum",keyword:"enum",params:{allowedValues: schema35.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data7.external_apis !== undefined){
let data10 = data7.external_apis;
if(typeof data10 !== "string"){
const err17 = {instancePath:instancePath+"/dependencies/external_apis",schemaPath:"#/definitions/dependency/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!((data10 === "healthy") || (data10 === "unhealthy"))){
const err18 = {instancePath:instancePath+"/dependencies/external_apis",schemaPath:"#/definitions/dependency/enum",keyword:"enum",params:{allowedValues: schema35.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
else {
const err19 = {instancePath:instancePath+"/dependencies",schemaPath:"#/properties/dependencies/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.metrics !== undefined){
let data11 = data.metrics;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.response_time_avg !== undefined){
let data12 = data11.response_time_avg;
if(!((typeof data12 == "number") && (isFinite(data12)))){
const err20 = {instancePath:instancePath+"/metrics/response_time_avg",schemaPath:"#/properties/metrics/properties/response_time_avg/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data11.error_rate !== undefined){
let data13 = data11.error_rate;
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 100 || isNaN(data13)){
const err21 = {instancePath:instancePath+"/metrics/error_rate",schemaPath:"#/definitions/percentage/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data13 < 0 || isNaN(data13)){
const err22 = {instancePath:instancePath+"/metrics/error_rate",schemaPath:"#/definitions/percentage/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/metrics/error_rate",schemaPath:"#/definitions/percentage/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data11.memory_usage !== undefined){
let data14 = data11.memory_usage;
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 > 100 || isNaN(data14)){
const err24 = {instancePath:instancePath+"/metrics/memory_usage",schemaPath:"#/definitions/percentage/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(data14 < 0 || isNaN(data14)){
const err25 = {instancePath:instancePath+"/metrics/memory_usage",schemaPath:"#/definitions/percentage/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
else {
const err26 = {instancePath:instancePath+"/metrics/memory_usage",schemaPath:"#/definitions/percentage/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data11.cpu_usage !== undefined){
let data15 = data11.cpu_usage;
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 > 100 || isNaN(data15)){
const err27 = {instancePath:instancePath+"/metrics/cpu_usage",schemaPath:"#/definitions/percentage/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(data15 < 0 || isNaN(data15)){
const err28 = {instancePath:instancePath+"/metrics/cpu_usage",schemaPath:"#/definitions/percentage/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
else {
const err29 = {instancePath:instancePath+"/metrics/cpu_usage",schemaPath:"#/definitions/percentage/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath:instancePath+"/metrics",schemaPath:"#/properties/metrics/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.error !== undefined){
let data16 = data.error;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
if(data16.message === undefined){
const err31 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
if(data16.details === undefined){
const err32 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "details"},message:"must have required property '"+"details"+"'"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
else {
const err33 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
else {
const err34 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
validate25.errors = vErrors;
return errors === 0;
}

export const IceCandidate = validate26;
const schema41 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"ice-candidate.schema.json","title":"IceCandidate","$comment":"our extension; the specification shows no message that carries candidates","description":"Either way: one more ICE candidate. Optional, since every candidate stands in the SDP already.","x-extension":true,"type":"object","required":["type","call_id","candidate"],"properties":{"type":{"type":"string","const":"ice_candidate"},"session_id":{"type":"string"},"call_id":{"type":"string"},"candidate":{"title":"IceCandidateLine","type":"object","required":["candidate"],"properties":{"candidate":{"description":"The candidate line; empty at the end.","type":"string"},"sdpMid":{"type":"string"},"sdpMLineIndex":{"type":"integer","minimum":0}}}},"examples":[{"type":"ice_candidate","call_id":"call-1","candidate":{"candidate":"candidate:1 1 udp 2130706431 127.0.0.1 50000 typ host","sdpMid":"0","sdpMLineIndex":0}}],"x-near-misses":[{"breaks":"/candidate","value":{"type":"ice_candidate","call_id":"call-1"}}]};

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="ice-candidate.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.call_id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "call_id"},message:"must have required property '"+"call_id"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.candidate === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "candidate"},message:"must have required property '"+"candidate"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if("ice_candidate" !== data0){
const err4 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "ice_candidate"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err5 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.call_id !== undefined){
if(typeof data.call_id !== "string"){
const err6 = {instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.candidate !== undefined){
let data3 = data.candidate;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.candidate === undefined){
const err7 = {instancePath:instancePath+"/candidate",schemaPath:"#/properties/candidate/required",keyword:"required",params:{missingProperty: "candidate"},message:"must have required property '"+"candidate"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3.candidate !== undefined){
if(typeof data3.candidate !== "string"){
const err8 = {instancePath:instancePath+"/candidate/candidate",schemaPath:"#/properties/candidate/properties/candidate/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data3.sdpMid !== undefined){
if(typeof data3.sdpMid !== "string"){
const err9 = {instancePath:instancePath+"/candidate/sdpMid",schemaPath:"#/properties/candidate/properties/sdpMid/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data3.sdpMLineIndex !== undefined){
let data6 = data3.sdpMLineIndex;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err10 = {instancePath:instancePath+"/candidate/sdpMLineIndex",schemaPath:"#/properties/candidate/properties/sdpMLineIndex/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err11 = {instancePath:instancePath+"/candidate/sdpMLineIndex",schemaPath:"#/properties/candidate/properties/sdpMLineIndex/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
else {
const err12 = {instancePath:instancePath+"/candidate",schemaPath:"#/properties/candidate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate26.errors = vErrors;
return errors === 0;
}

export const KeyGrant = validate27;
const schema42 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"key-grant.schema.json","title":"KeyGrant","$comment":"our extension; /__admin/keys and the seed document of the service","description":"A key and whose it is.","x-extension":true,"type":"object","required":[],"additionalProperties":false,"properties":{"key":{"type":"string","pattern":"^[\\x21-\\x7e]{8,256}$","description":"Visible ASCII; made up when left out."},"owner":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Name of the owner, who is made when there is none of that name; the owner of the request when left out."}},"examples":[{"key":"team-a-test-key","owner":"team-a"},{}],"x-near-misses":[{"breaks":"/key","value":{"key":"short"}},{"breaks":"/owner","value":{"owner":""}}]};
const pattern5 = new RegExp("^[\\x21-\\x7e]{8,256}$", "u");

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="key-grant.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "key") || (key0 === "owner"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.key !== undefined){
let data0 = data.key;
if(typeof data0 === "string"){
if(!pattern5.test(data0)){
const err1 = {instancePath:instancePath+"/key",schemaPath:"#/properties/key/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]{8,256}$"},message:"must match pattern \""+"^[\\x21-\\x7e]{8,256}$"+"\""};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.owner !== undefined){
let data1 = data.owner;
if(typeof data1 === "string"){
if(!pattern3.test(data1)){
const err3 = {instancePath:instancePath+"/owner",schemaPath:"#/properties/owner/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/owner",schemaPath:"#/properties/owner/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate27.errors = vErrors;
return errors === 0;
}

export const LiveSettings = validate28;
const schema43 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"live-settings.schema.json","title":"LiveSettings","$comment":"spec 2.2","description":"Settings of live traces: which evals score every conversation, and the base name of the daily run.","x-extension":true,"type":"object","required":[],"properties":{"evals":{"type":"array","maxItems":5,"items":{"type":"string"},"description":"Ids of evals."},"run_name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"}},"additionalProperties":false,"examples":[{"evals":["order-found"],"run_name":"Live traces"},{"run_name":"Shop"}],"x-near-misses":[{"breaks":"/evals","value":{"evals":["a","b","c","d","e","f"]}},{"breaks":"/run_name","value":{"run_name":""}}]};

function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="live-settings.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "evals") || (key0 === "run_name"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.evals !== undefined){
let data0 = data.evals;
if(Array.isArray(data0)){
if(data0.length > 5){
const err1 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/maxItems",keyword:"maxItems",params:{limit: 5},message:"must NOT have more than 5 items"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(typeof data0[i0] !== "string"){
const err2 = {instancePath:instancePath+"/evals/" + i0,schemaPath:"#/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.run_name !== undefined){
let data2 = data.run_name;
if(typeof data2 === "string"){
if(!pattern3.test(data2)){
const err4 = {instancePath:instancePath+"/run_name",schemaPath:"#/properties/run_name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/run_name",schemaPath:"#/properties/run_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate28.errors = vErrors;
return errors === 0;
}

export const LoadReport = validate29;
const schema44 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"load-report.schema.json","title":"LoadReport","$comment":"ours; what sandbox-kit load --json writes","description":"The verdict of a load run. Times are milliseconds. Latency is from the intended start of a request. Keys may be added in later versions; none is renamed or removed within a major version.","type":"object","required":["verdict","exitCode","sentence","kitVersion","sandbox","seed","startedAt","endedAt","plan","targets","selfCheck","streams","timeline","faultSamples","notes"],"properties":{"verdict":{"$ref":"#/definitions/loadVerdict"},"exitCode":{"type":"integer","enum":[0,1,3]},"sentence":{"description":"The verdict in one sentence.","type":"string"},"kitVersion":{"type":"string"},"sandbox":{"description":"Base URL of the sandbox.","type":"string"},"seed":{"type":"string"},"startedAt":{"type":"string","format":"iso8601"},"endedAt":{"type":"string","format":"iso8601"},"gate":{"title":"LoadGate","description":"Why nothing, or no more, was sent, and what to do about it.","type":"object","required":["says","cure"],"properties":{"says":{"type":"string"},"cure":{"type":"string"}}},"aborted":{"description":"Why the run ended before its time; its verdict rests on what was seen by then.","type":"string"},"plan":{"title":"LoadPlan","description":"What was to be sent, fixed before the first request.","type":"object","required":["engine","profile","arrivals","ratePerSecond","windowMs","warmUpMs","rampMs","percentile","requests","modelCalls"],"properties":{"engine":{"title":"LoadEngineName","type":"string","enum":["open","autocannon"]},"profile":{"title":"LoadProfileName","type":"string","enum":["chat","conversation","health","mixed"]},"arrivals":{"title":"Arrivals","type":"string","enum":["uniform","poisson"]},"ratePerSecond":{"description":"Chat requests a second; of the profile health, health requests.","type":"number"},"simulatedUsers":{"description":"Of the profile conversation: users who talk at once.","type":"integer","minimum":0},"windowMs":{"description":"Length of the judged window.","type":"number"},"warmUpMs":{"description":"Length of the closed-loop warm-up before it.","type":"number"},"rampMs":{"description":"Length of the ramp between the two, at rising rates.","type":"number"},"percentile":{"description":"Which percentile of the response times is judged.","type":"number"},"requests":{"description":"Requests of the whole run, to a few.","type":"integer","minimum":0},"modelCalls":{"description":"Those of them that reach a model.","type":"integer","minimum":0}}},"targets":{"type":"array","items":{"title":"LoadTarget","type":"object","required":["id","says","section","target","unit","measured","bound95","range95","samples","verdict","reason"],"properties":{"id":{"title":"LoadTargetId","type":"string","enum":["chat-latency","chat-throughput","availability","health-latency","chat-sessions","voice-latency","voice-connections"]},"says":{"description":"What is asked, in words.","type":"string"},"section":{"description":"Section of the specification.","type":"string"},"target":{"type":"number"},"unit":{"type":"string","enum":["ms","requests/s","%","connections"]},"measured":{"description":"null where nothing was measured.","type":["number","null"]},"bound95":{"description":"One-sided 95 % bound on the side of the target: what the measured value is at worst. null where the samples are too few for one.","type":["number","null"]},"range95":{"description":"Both one-sided 95 % bounds, lower first.","type":"array","minItems":2,"items":{"type":["number","null"]}},"samples":{"type":"integer","minimum":0},"verdict":{"$ref":"#/definitions/loadVerdict"},"reason":{"type":"string"}}}},"selfCheck":{"title":"SelfCheck","description":"Whether the generator itself could keep up. If not, no target is judged.","type":"object","required":["valid","reasons","figures"],"properties":{"valid":{"type":"boolean"},"reasons":{"description":"Why it is not valid.","type":"array","items":{"type":"string"}},"figures":{"type":"array","items":{"title":"SelfCheckFigure","type":"object","required":["name","value","limit","unit","holds"],"properties":{"name":{"type":"string"},"value":{"type":"number"},"limit":{"type":"number"},"unit":{"type":"string"},"holds":{"type":"boolean"}}}}}},"chat":{"$ref":"#/definitions/streamReport"},"health":{"$ref":"#/definitions/streamReport"},"users":{"$ref":"#/definitions/streamReport"},"streams":{"description":"Which of chat, health, users were sent.","type":"array","items":{"title":"StreamName","type":"string","enum":["chat","health","users"]}},"warmUp":{"title":"WarmUp","description":"The closed-loop warm-up, sent by autocannon; not judged.","type":"object","required":["connections","requests","errors","p50Ms"],"properties":{"connections":{"description":"Connections.","type":"integer","minimum":0},"requests":{"description":"Answers that came.","type":"integer","minimum":0},"errors":{"description":"Errors and timeouts.","type":"integer","minimum":0},"p50Ms":{"description":"Median of the service time.","type":["number","null"]}}},"outages":{"title":"Outages","description":"How failures lay in time.","type":"object","required":["seconds","cleanSeconds","longestMs","incidents"],"properties":{"seconds":{"description":"Seconds of the judged window.","type":"integer","minimum":0},"cleanSeconds":{"description":"Those without a failure.","type":"integer","minimum":0},"longestMs":{"description":"The longest time in which every request that began failed.","type":"number"},"incidents":{"description":"Runs of failures in a row.","type":"integer","minimum":0}}},"trend":{"title":"InFlightTrend","description":"How chat requests in flight rose over the last two thirds of the window (Theil-Sen).","type":"object","required":["perSecond","range95","atStart","atEnd","rising"],"properties":{"perSecond":{"description":"Requests a second by which they rose.","type":"number"},"range95":{"description":"One-sided 95 % bounds of it, lower first.","type":"array","minItems":2,"items":{"type":"number"}},"atStart":{"description":"In flight when the window began.","type":"number"},"atEnd":{"description":"In flight when it ended.","type":"number"},"rising":{"description":"They rose for certain, and by more than 1 % of the offered rate.","type":"boolean"}}},"timeline":{"description":"Second by second, from the ramp to the end of the drain.","type":"array","items":{"title":"LoadSecond","type":"object","required":["second","phase","offered","sent","done","ok","inFlight","p50","p95","p99","max","errors","heat"],"properties":{"second":{"description":"Seconds since the judged window began; negative in the ramp.","type":"integer"},"phase":{"title":"LoadPhase","type":"string","enum":["ramp","window","drain"]},"offered":{"description":"Requests that were due.","type":"integer","minimum":0},"sent":{"description":"Requests that left.","type":"integer","minimum":0},"done":{"description":"Requests that ended, well or not.","type":"integer","minimum":0},"ok":{"description":"Requests that ended well.","type":"integer","minimum":0},"inFlight":{"description":"In flight at its end, at most.","type":"integer","minimum":0},"p50":{"description":"Response time of the main stream by the second in which it was due; null where none came.","type":["number","null"]},"p95":{"type":["number","null"]},"p99":{"type":["number","null"]},"max":{"type":["number","null"]},"errors":{"$ref":"#/definitions/faultCounts"},"heat":{"description":"How many response times fell into each of the bounds of heatBoundsMs.","type":"array","items":{"type":"integer"}}}}},"heatBoundsMs":{"description":"Upper bounds of the classes of heat; the last class has none.","type":"array","items":{"type":"number"}},"curve":{"description":"Response and service times of the main stream by percentile.","type":"array","items":{"title":"CurvePoint","type":"object","required":["percentile","responseMs","serviceMs"],"properties":{"percentile":{"type":"number"},"responseMs":{"type":"number"},"serviceMs":{"type":"number"}}}},"faultSamples":{"description":"The first of each kind of error.","type":"array","items":{"title":"FaultSample","type":"object","required":["kind","stream","atMs","detail"],"properties":{"kind":{"$ref":"#/definitions/faultKind"},"stream":{"type":"string"},"atMs":{"description":"When it ended, since the judged window began.","type":"number"},"session":{"description":"The session_id of the request.","type":"string"},"detail":{"type":"string"}}}},"findMax":{"title":"MaxRate","description":"The rate that is sustained, from --find-max.","type":"object","required":["sustains","fails","confirmed","says","steps"],"properties":{"probePerSecond":{"description":"Answers a second in a closed loop; where the search began follows from it.","type":"number"},"sustains":{"description":"The highest rate that held; null where none did.","type":["number","null"]},"fails":{"description":"The lowest rate that did not; null where all held.","type":["number","null"]},"confirmed":{"description":"The rate held for the whole confirmation, too.","type":"boolean"},"says":{"type":"string"},"steps":{"type":"array","items":{"title":"RateStep","type":"object","required":["ratePerSecond","durationMs","holds","donePerSecond","p99Ms","failedShare","reason"],"properties":{"ratePerSecond":{"type":"number"},"durationMs":{"type":"number"},"holds":{"type":"boolean"},"donePerSecond":{"type":"number"},"p99Ms":{"type":["number","null"]},"failedShare":{"description":"0 to 1.","type":"number"},"reason":{"type":"string"}}}}}},"comparison":{"title":"LoadComparison","description":"This run against an earlier one.","type":"object","required":["startedAt","differences","rows"],"properties":{"startedAt":{"description":"When the earlier run began.","type":"string"},"differences":{"description":"Settings that differ, for which the runs say less about the sandbox.","type":"array","items":{"type":"string"}},"rows":{"type":"array","items":{"title":"ComparedTarget","type":"object","required":["id","unit","before","now","change","verdictBefore","verdictNow"],"properties":{"id":{"type":"string"},"unit":{"type":"string"},"before":{"type":["number","null"]},"now":{"type":["number","null"]},"change":{"title":"Change","description":"better or worse only where the 95 % ranges of the two runs do not meet.","type":"string","enum":["better","worse","alike","unknown"]},"verdictBefore":{"$ref":"#/definitions/loadVerdict"},"verdictNow":{"$ref":"#/definitions/loadVerdict"}}}}}},"machine":{"title":"GeneratorMachine","description":"Where the load came from.","type":"object","required":["node","cpus","cpuModel","cpuPercent","engineVersion"],"properties":{"node":{"type":"string"},"cpus":{"type":"integer"},"cpuModel":{"type":"string"},"cpuPercent":{"description":"What the generator used of one core during the window.","type":"number"},"engineVersion":{"type":"string"}}},"notes":{"description":"What a reader must know besides: blind spots, waivers.","type":"array","items":{"type":"string"}}},"definitions":{"loadVerdict":{"title":"LoadVerdict","type":"string","enum":["PASS","FAIL","NOT PROVEN","INVALID RUN","NOT TESTED"]},"faultKind":{"title":"FaultKind","description":"What became of a request that did not end well.","type":"string","enum":["timeout","refused","unresolved","tls","reset","stale_connection","cut_off","protocol","too_large","rate_limited","unauthorized","client_error","server_error","other_status","nonconforming","mixed_up","local"]},"faultCounts":{"title":"FaultCounts","description":"How often each kind of error came; none that did not come.","type":"object","additionalProperties":{"type":"integer","minimum":1}},"latencySummary":{"title":"LatencySummary","description":"Milliseconds; null where nothing was measured.","type":"object","required":["p50","p90","p99","p999","max","mean"],"properties":{"p50":{"type":["number","null"]},"p90":{"type":["number","null"]},"p99":{"type":["number","null"]},"p999":{"type":["number","null"]},"max":{"type":["number","null"]},"mean":{"type":["number","null"]}}},"streamReport":{"title":"StreamReport","description":"What became of the requests of one kind that were due in the judged window.","type":"object","required":["offered","sent","ok","goodput","errors","latencyMs","serviceMs","lagMs","firstByteMs","offeredPerSecond","okPerSecond"],"properties":{"offered":{"description":"Due in the window.","type":"integer","minimum":0},"sent":{"description":"Sent; fewer than offered only where the generator failed.","type":"integer","minimum":0},"ok":{"description":"Answered in time, with 2xx, as the interface asks, and with its own session.","type":"integer","minimum":0},"goodput":{"description":"Those of them that came within the target time.","type":"integer","minimum":0},"errors":{"$ref":"#/definitions/faultCounts"},"latencyMs":{"$ref":"#/definitions/latencySummary"},"serviceMs":{"$ref":"#/definitions/latencySummary"},"lagMs":{"$ref":"#/definitions/latencySummary"},"firstByteMs":{"$ref":"#/definitions/latencySummary"},"offeredPerSecond":{"type":"number"},"okPerSecond":{"type":"number"},"retryAfterS":{"description":"The longest Retry-After of a 429.","type":"number"},"findings":{"description":"Requirements that answers did not meet, by how often.","type":"object","additionalProperties":{"type":"integer","minimum":1}}}}},"examples":[{"verdict":"PASS","exitCode":0,"sentence":"Chat holds 100 requests/s.","kitVersion":"0.1.0","sandbox":"http://127.0.0.1:8080","seed":"3f9a1c07de","startedAt":"2026-11-20T09:30:00.000Z","endedAt":"2026-11-20T09:31:15.000Z","plan":{"engine":"open","profile":"chat","arrivals":"uniform","ratePerSecond":100,"windowMs":60000,"warmUpMs":5000,"rampMs":5000,"percentile":99,"requests":6530,"modelCalls":6528},"targets":[{"id":"chat-latency","says":"Chat answers in under 5 s.","section":"8","target":5000,"unit":"ms","measured":80,"bound95":82,"range95":[78,82],"samples":6000,"verdict":"PASS","reason":"None of 6000 took 5 s or longer."}],"selfCheck":{"valid":true,"reasons":[],"figures":[{"name":"lag p99","value":1.2,"limit":50,"unit":"ms","holds":true}]},"chat":{"offered":6000,"sent":6000,"ok":6000,"goodput":6000,"errors":{},"latencyMs":{"p50":51,"p90":60,"p99":80,"p999":90,"max":91.5,"mean":52},"serviceMs":{"p50":51,"p90":60,"p99":80,"p999":90,"max":91.5,"mean":52},"lagMs":{"p50":51,"p90":60,"p99":80,"p999":90,"max":91.5,"mean":52},"firstByteMs":{"p50":51,"p90":60,"p99":80,"p999":90,"max":91.5,"mean":52},"offeredPerSecond":100,"okPerSecond":100},"streams":["chat"],"timeline":[{"second":0,"phase":"window","offered":100,"sent":100,"done":95,"ok":95,"inFlight":5,"p50":51,"p95":60,"p99":80,"max":91.5,"errors":{},"heat":[0,100]}],"heatBoundsMs":[10],"faultSamples":[],"notes":[]}],"x-near-misses":[{"breaks":"/verdict","value":{"verdict":"pass"}}]};
const schema45 = {"title":"LoadVerdict","type":"string","enum":["PASS","FAIL","NOT PROVEN","INVALID RUN","NOT TESTED"]};
const schema48 = {"title":"FaultCounts","description":"How often each kind of error came; none that did not come.","type":"object","additionalProperties":{"type":"integer","minimum":1}};
const schema54 = {"title":"FaultKind","description":"What became of a request that did not end well.","type":"string","enum":["timeout","refused","unresolved","tls","reset","stale_connection","cut_off","protocol","too_large","rate_limited","unauthorized","client_error","server_error","other_status","nonconforming","mixed_up","local"]};
const schema47 = {"title":"StreamReport","description":"What became of the requests of one kind that were due in the judged window.","type":"object","required":["offered","sent","ok","goodput","errors","latencyMs","serviceMs","lagMs","firstByteMs","offeredPerSecond","okPerSecond"],"properties":{"offered":{"description":"Due in the window.","type":"integer","minimum":0},"sent":{"description":"Sent; fewer than offered only where the generator failed.","type":"integer","minimum":0},"ok":{"description":"Answered in time, with 2xx, as the interface asks, and with its own session.","type":"integer","minimum":0},"goodput":{"description":"Those of them that came within the target time.","type":"integer","minimum":0},"errors":{"$ref":"#/definitions/faultCounts"},"latencyMs":{"$ref":"#/definitions/latencySummary"},"serviceMs":{"$ref":"#/definitions/latencySummary"},"lagMs":{"$ref":"#/definitions/latencySummary"},"firstByteMs":{"$ref":"#/definitions/latencySummary"},"offeredPerSecond":{"type":"number"},"okPerSecond":{"type":"number"},"retryAfterS":{"description":"The longest Retry-After of a 429.","type":"number"},"findings":{"description":"Requirements that answers did not meet, by how often.","type":"object","additionalProperties":{"type":"integer","minimum":1}}}};
const schema49 = {"title":"LatencySummary","description":"Milliseconds; null where nothing was measured.","type":"object","required":["p50","p90","p99","p999","max","mean"],"properties":{"p50":{"type":["number","null"]},"p90":{"type":["number","null"]},"p99":{"type":["number","null"]},"p999":{"type":["number","null"]},"max":{"type":["number","null"]},"mean":{"type":["number","null"]}}};

function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.offered === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "offered"},message:"must have required property '"+"offered"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.sent === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sent"},message:"must have required property '"+"sent"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.ok === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ok"},message:"must have required property '"+"ok"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.goodput === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "goodput"},message:"must have required property '"+"goodput"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.errors === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "errors"},message:"must have required property '"+"errors"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.latencyMs === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "latencyMs"},message:"must have required property '"+"latencyMs"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.serviceMs === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "serviceMs"},message:"must have required property '"+"serviceMs"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.lagMs === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "lagMs"},message:"must have required property '"+"lagMs"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.firstByteMs === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "firstByteMs"},message:"must have required property '"+"firstByteMs"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data.offeredPerSecond === undefined){
const err9 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "offeredPerSecond"},message:"must have required property '"+"offeredPerSecond"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.okPerSecond === undefined){
const err10 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "okPerSecond"},message:"must have required property '"+"okPerSecond"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data.offered !== undefined){
let data0 = data.offered;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err11 = {instancePath:instancePath+"/offered",schemaPath:"#/properties/offered/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err12 = {instancePath:instancePath+"/offered",schemaPath:"#/properties/offered/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
if(data.sent !== undefined){
let data1 = data.sent;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err13 = {instancePath:instancePath+"/sent",schemaPath:"#/properties/sent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err14 = {instancePath:instancePath+"/sent",schemaPath:"#/properties/sent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.ok !== undefined){
let data2 = data.ok;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err15 = {instancePath:instancePath+"/ok",schemaPath:"#/properties/ok/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err16 = {instancePath:instancePath+"/ok",schemaPath:"#/properties/ok/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
if(data.goodput !== undefined){
let data3 = data.goodput;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err17 = {instancePath:instancePath+"/goodput",schemaPath:"#/properties/goodput/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err18 = {instancePath:instancePath+"/goodput",schemaPath:"#/properties/goodput/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.errors !== undefined){
let data4 = data.errors;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key0 in data4){
let data5 = data4[key0];
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err19 = {instancePath:instancePath+"/errors/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/faultCounts/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
const err20 = {instancePath:instancePath+"/errors/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/faultCounts/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
}
else {
const err21 = {instancePath:instancePath+"/errors",schemaPath:"#/definitions/faultCounts/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.latencyMs !== undefined){
let data6 = data.latencyMs;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.p50 === undefined){
const err22 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data6.p90 === undefined){
const err23 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p90"},message:"must have required property '"+"p90"+"'"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data6.p99 === undefined){
const err24 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p99"},message:"must have required property '"+"p99"+"'"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(data6.p999 === undefined){
const err25 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p999"},message:"must have required property '"+"p999"+"'"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(data6.max === undefined){
const err26 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(data6.mean === undefined){
const err27 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "mean"},message:"must have required property '"+"mean"+"'"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(data6.p50 !== undefined){
let data7 = data6.p50;
if((!((typeof data7 == "number") && (isFinite(data7)))) && (data7 !== null)){
const err28 = {instancePath:instancePath+"/latencyMs/p50",schemaPath:"#/definitions/latencySummary/properties/p50/type",keyword:"type",params:{type: schema49.properties.p50.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data6.p90 !== undefined){
let data8 = data6.p90;
if((!((typeof data8 == "number") && (isFinite(data8)))) && (data8 !== null)){
const err29 = {instancePath:instancePath+"/latencyMs/p90",schemaPath:"#/definitions/latencySummary/properties/p90/type",keyword:"type",params:{type: schema49.properties.p90.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data6.p99 !== undefined){
let data9 = data6.p99;
if((!((typeof data9 == "number") && (isFinite(data9)))) && (data9 !== null)){
const err30 = {instancePath:instancePath+"/latencyMs/p99",schemaPath:"#/definitions/latencySummary/properties/p99/type",keyword:"type",params:{type: schema49.properties.p99.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data6.p999 !== undefined){
let data10 = data6.p999;
if((!((typeof data10 == "number") && (isFinite(data10)))) && (data10 !== null)){
const err31 = {instancePath:instancePath+"/latencyMs/p999",schemaPath:"#/definitions/latencySummary/properties/p999/type",keyword:"type",params:{type: schema49.properties.p999.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data6.max !== undefined){
let data11 = data6.max;
if((!((typeof data11 == "number") && (isFinite(data11)))) && (data11 !== null)){
const err32 = {instancePath:instancePath+"/latencyMs/max",schemaPath:"#/definitions/latencySummary/properties/max/type",keyword:"type",params:{type: schema49.properties.max.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data6.mean !== undefined){
let data12 = data6.mean;
if((!((typeof data12 == "number") && (isFinite(data12)))) && (data12 !== null)){
const err33 = {instancePath:instancePath+"/latencyMs/mean",schemaPath:"#/definitions/latencySummary/properties/mean/type",keyword:"type",params:{type: schema49.properties.mean.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
else {
const err34 = {instancePath:instancePath+"/latencyMs",schemaPath:"#/definitions/latencySummary/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data.serviceMs !== undefined){
let data13 = data.serviceMs;
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(data13.p50 === undefined){
const err35 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if(data13.p90 === undefined){
const err36 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p90"},message:"must have required property '"+"p90"+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data13.p99 === undefined){
const err37 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p99"},message:"must have required property '"+"p99"+"'"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(data13.p999 === undefined){
const err38 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p999"},message:"must have required property '"+"p999"+"'"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(data13.max === undefined){
const err39 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
if(data13.mean === undefined){
const err40 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "mean"},message:"must have required property '"+"mean"+"'"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
if(data13.p50 !== undefined){
let data14 = data13.p50;
if((!((typeof data14 == "number") && (isFinite(data14)))) && (data14 !== null)){
const err41 = {instancePath:instancePath+"/serviceMs/p50",schemaPath:"#/definitions/latencySummary/properties/p50/type",keyword:"type",params:{type: schema49.properties.p50.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data13.p90 !== undefined){
let data15 = data13.p90;
if((!((typeof data15 == "number") && (isFinite(data15)))) && (data15 !== null)){
const err42 = {instancePath:instancePath+"/serviceMs/p90",schemaPath:"#/definitions/latencySummary/properties/p90/type",keyword:"type",params:{type: schema49.properties.p90.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data13.p99 !== undefined){
let data16 = data13.p99;
if((!((typeof data16 == "number") && (isFinite(data16)))) && (data16 !== null)){
const err43 = {instancePath:instancePath+"/serviceMs/p99",schemaPath:"#/definitions/latencySummary/properties/p99/type",keyword:"type",params:{type: schema49.properties.p99.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data13.p999 !== undefined){
let data17 = data13.p999;
if((!((typeof data17 == "number") && (isFinite(data17)))) && (data17 !== null)){
const err44 = {instancePath:instancePath+"/serviceMs/p999",schemaPath:"#/definitions/latencySummary/properties/p999/type",keyword:"type",params:{type: schema49.properties.p999.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data13.max !== undefined){
let data18 = data13.max;
if((!((typeof data18 == "number") && (isFinite(data18)))) && (data18 !== null)){
const err45 = {instancePath:instancePath+"/serviceMs/max",schemaPath:"#/definitions/latencySummary/properties/max/type",keyword:"type",params:{type: schema49.properties.max.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data13.mean !== undefined){
let data19 = data13.mean;
if((!((typeof data19 == "number") && (isFinite(data19)))) && (data19 !== null)){
const err46 = {instancePath:instancePath+"/serviceMs/mean",schemaPath:"#/definitions/latencySummary/properties/mean/type",keyword:"type",params:{type: schema49.properties.mean.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
}
else {
const err47 = {instancePath:instancePath+"/serviceMs",schemaPath:"#/definitions/latencySummary/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data.lagMs !== undefined){
let data20 = data.lagMs;
if(data20 && typeof data20 == "object" && !Array.isArray(data20)){
if(data20.p50 === undefined){
const err48 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(data20.p90 === undefined){
const err49 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p90"},message:"must have required property '"+"p90"+"'"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(data20.p99 === undefined){
const err50 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p99"},message:"must have required property '"+"p99"+"'"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
if(data20.p999 === undefined){
const err51 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p999"},message:"must have required property '"+"p999"+"'"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
if(data20.max === undefined){
const err52 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
if(data20.mean === undefined){
const err53 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "mean"},message:"must have required property '"+"mean"+"'"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
if(data20.p50 !== undefined){
let data21 = data20.p50;
if((!((typeof data21 == "number") && (isFinite(data21)))) && (data21 !== null)){
const err54 = {instancePath:instancePath+"/lagMs/p50",schemaPath:"#/definitions/latencySummary/properties/p50/type",keyword:"type",params:{type: schema49.properties.p50.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data20.p90 !== undefined){
let data22 = data20.p90;
if((!((typeof data22 == "number") && (isFinite(data22)))) && (data22 !== null)){
const err55 = {instancePath:instancePath+"/lagMs/p90",schemaPath:"#/definitions/latencySummary/properties/p90/type",keyword:"type",params:{type: schema49.properties.p90.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
if(data20.p99 !== undefined){
let data23 = data20.p99;
if((!((typeof data23 == "number") && (isFinite(data23)))) && (data23 !== null)){
const err56 = {instancePath:instancePath+"/lagMs/p99",schemaPath:"#/definitions/latencySummary/properties/p99/type",keyword:"type",params:{type: schema49.properties.p99.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data20.p999 !== undefined){
let data24 = data20.p999;
if((!((typeof data24 == "number") && (isFinite(data24)))) && (data24 !== null)){
const err57 = {instancePath:instancePath+"/lagMs/p999",schemaPath:"#/definitions/latencySummary/properties/p999/type",keyword:"type",params:{type: schema49.properties.p999.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
if(data20.max !== undefined){
let data25 = data20.max;
if((!((typeof data25 == "number") && (isFinite(data25)))) && (data25 !== null)){
const err58 = {instancePath:instancePath+"/lagMs/max",schemaPath:"#/definitions/latencySummary/properties/max/type",keyword:"type",params:{type: schema49.properties.max.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
if(data20.mean !== undefined){
let data26 = data20.mean;
if((!((typeof data26 == "number") && (isFinite(data26)))) && (data26 !== null)){
const err59 = {instancePath:instancePath+"/lagMs/mean",schemaPath:"#/definitions/latencySummary/properties/mean/type",keyword:"type",params:{type: schema49.properties.mean.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
else {
const err60 = {instancePath:instancePath+"/lagMs",schemaPath:"#/definitions/latencySummary/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data.firstByteMs !== undefined){
let data27 = data.firstByteMs;
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
if(data27.p50 === undefined){
const err61 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if(data27.p90 === undefined){
const err62 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p90"},message:"must have required property '"+"p90"+"'"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
if(data27.p99 === undefined){
const err63 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p99"},message:"must have required property '"+"p99"+"'"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if(data27.p999 === undefined){
const err64 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "p999"},message:"must have required property '"+"p999"+"'"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if(data27.max === undefined){
const err65 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
if(data27.mean === undefined){
const err66 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/required",keyword:"required",params:{missingProperty: "mean"},message:"must have required property '"+"mean"+"'"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(data27.p50 !== undefined){
let data28 = data27.p50;
if((!((typeof data28 == "number") && (isFinite(data28)))) && (data28 !== null)){
const err67 = {instancePath:instancePath+"/firstByteMs/p50",schemaPath:"#/definitions/latencySummary/properties/p50/type",keyword:"type",params:{type: schema49.properties.p50.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data27.p90 !== undefined){
let data29 = data27.p90;
if((!((typeof data29 == "number") && (isFinite(data29)))) && (data29 !== null)){
const err68 = {instancePath:instancePath+"/firstByteMs/p90",schemaPath:"#/definitions/latencySummary/properties/p90/type",keyword:"type",params:{type: schema49.properties.p90.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data27.p99 !== undefined){
let data30 = data27.p99;
if((!((typeof data30 == "number") && (isFinite(data30)))) && (data30 !== null)){
const err69 = {instancePath:instancePath+"/firstByteMs/p99",schemaPath:"#/definitions/latencySummary/properties/p99/type",keyword:"type",params:{type: schema49.properties.p99.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
if(data27.p999 !== undefined){
let data31 = data27.p999;
if((!((typeof data31 == "number") && (isFinite(data31)))) && (data31 !== null)){
const err70 = {instancePath:instancePath+"/firstByteMs/p999",schemaPath:"#/definitions/latencySummary/properties/p999/type",keyword:"type",params:{type: schema49.properties.p999.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
if(data27.max !== undefined){
let data32 = data27.max;
if((!((typeof data32 == "number") && (isFinite(data32)))) && (data32 !== null)){
const err71 = {instancePath:instancePath+"/firstByteMs/max",schemaPath:"#/definitions/latencySummary/properties/max/type",keyword:"type",params:{type: schema49.properties.max.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data27.mean !== undefined){
let data33 = data27.mean;
if((!((typeof data33 == "number") && (isFinite(data33)))) && (data33 !== null)){
const err72 = {instancePath:instancePath+"/firstByteMs/mean",schemaPath:"#/definitions/latencySummary/properties/mean/type",keyword:"type",params:{type: schema49.properties.mean.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
}
else {
const err73 = {instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/latencySummary/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
if(data.offeredPerSecond !== undefined){
let data34 = data.offeredPerSecond;
if(!((typeof data34 == "number") && (isFinite(data34)))){
const err74 = {instancePath:instancePath+"/offeredPerSecond",schemaPath:"#/properties/offeredPerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data.okPerSecond !== undefined){
let data35 = data.okPerSecond;
if(!((typeof data35 == "number") && (isFinite(data35)))){
const err75 = {instancePath:instancePath+"/okPerSecond",schemaPath:"#/properties/okPerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data.retryAfterS !== undefined){
let data36 = data.retryAfterS;
if(!((typeof data36 == "number") && (isFinite(data36)))){
const err76 = {instancePath:instancePath+"/retryAfterS",schemaPath:"#/properties/retryAfterS/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data.findings !== undefined){
let data37 = data.findings;
if(data37 && typeof data37 == "object" && !Array.isArray(data37)){
for(const key1 in data37){
let data38 = data37[key1];
if(!(((typeof data38 == "number") && (!(data38 % 1) && !isNaN(data38))) && (isFinite(data38)))){
const err77 = {instancePath:instancePath+"/findings/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/findings/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 < 1 || isNaN(data38)){
const err78 = {instancePath:instancePath+"/findings/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/findings/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
}
}
else {
const err79 = {instancePath:instancePath+"/findings",schemaPath:"#/properties/findings/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
else {
const err80 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
validate30.errors = vErrors;
return errors === 0;
}


function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="load-report.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.verdict === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.exitCode === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "exitCode"},message:"must have required property '"+"exitCode"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.sentence === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sentence"},message:"must have required property '"+"sentence"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.kitVersion === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kitVersion"},message:"must have required property '"+"kitVersion"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.sandbox === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sandbox"},message:"must have required property '"+"sandbox"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.seed === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "seed"},message:"must have required property '"+"seed"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.startedAt === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "startedAt"},message:"must have required property '"+"startedAt"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.endedAt === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endedAt"},message:"must have required property '"+"endedAt"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.plan === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "plan"},message:"must have required property '"+"plan"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data.targets === undefined){
const err9 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "targets"},message:"must have required property '"+"targets"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.selfCheck === undefined){
const err10 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "selfCheck"},message:"must have required property '"+"selfCheck"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data.streams === undefined){
const err11 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "streams"},message:"must have required property '"+"streams"+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data.timeline === undefined){
const err12 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "timeline"},message:"must have required property '"+"timeline"+"'"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data.faultSamples === undefined){
const err13 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "faultSamples"},message:"must have required property '"+"faultSamples"+"'"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data.notes === undefined){
const err14 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "notes"},message:"must have required property '"+"notes"+"'"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data.verdict !== undefined){
let data0 = data.verdict;
if(typeof data0 !== "string"){
const err15 = {instancePath:instancePath+"/verdict",schemaPath:"#/definitions/loadVerdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(!(((((data0 === "PASS") || (data0 === "FAIL")) || (data0 === "NOT PROVEN")) || (data0 === "INVALID RUN")) || (data0 === "NOT TESTED"))){
const err16 = {instancePath:instancePath+"/verdict",schemaPath:"#/definitions/loadVerdict/enum",keyword:"enum",params:{allowedValues: schema45.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.exitCode !== undefined){
let data1 = data.exitCode;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err17 = {instancePath:instancePath+"/exitCode",schemaPath:"#/properties/exitCode/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!(((data1 === 0) || (data1 === 1)) || (data1 === 3))){
const err18 = {instancePath:instancePath+"/exitCode",schemaPath:"#/properties/exitCode/enum",keyword:"enum",params:{allowedValues: schema44.properties.exitCode.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.sentence !== undefined){
if(typeof data.sentence !== "string"){
const err19 = {instancePath:instancePath+"/sentence",schemaPath:"#/properties/sentence/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.kitVersion !== undefined){
if(typeof data.kitVersion !== "string"){
const err20 = {instancePath:instancePath+"/kitVersion",schemaPath:"#/properties/kitVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.sandbox !== undefined){
if(typeof data.sandbox !== "string"){
const err21 = {instancePath:instancePath+"/sandbox",schemaPath:"#/properties/sandbox/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.seed !== undefined){
if(typeof data.seed !== "string"){
const err22 = {instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.startedAt !== undefined){
let data6 = data.startedAt;
if(typeof data6 === "string"){
if(!(formats0.test(data6))){
const err23 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
else {
const err24 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.endedAt !== undefined){
let data7 = data.endedAt;
if(typeof data7 === "string"){
if(!(formats0.test(data7))){
const err25 = {instancePath:instancePath+"/endedAt",schemaPath:"#/properties/endedAt/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
else {
const err26 = {instancePath:instancePath+"/endedAt",schemaPath:"#/properties/endedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.gate !== undefined){
let data8 = data.gate;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.says === undefined){
const err27 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(data8.cure === undefined){
const err28 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/required",keyword:"required",params:{missingProperty: "cure"},message:"must have required property '"+"cure"+"'"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if(data8.says !== undefined){
if(typeof data8.says !== "string"){
const err29 = {instancePath:instancePath+"/gate/says",schemaPath:"#/properties/gate/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data8.cure !== undefined){
if(typeof data8.cure !== "string"){
const err30 = {instancePath:instancePath+"/gate/cure",schemaPath:"#/properties/gate/properties/cure/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
else {
const err31 = {instancePath:instancePath+"/gate",schemaPath:"#/properties/gate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.aborted !== undefined){
if(typeof data.aborted !== "string"){
const err32 = {instancePath:instancePath+"/aborted",schemaPath:"#/properties/aborted/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.plan !== undefined){
let data12 = data.plan;
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
if(data12.engine === undefined){
const err33 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "engine"},message:"must have required property '"+"engine"+"'"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(data12.profile === undefined){
const err34 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "profile"},message:"must have required property '"+"profile"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data12.arrivals === undefined){
const err35 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "arrivals"},message:"must have required property '"+"arrivals"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if(data12.ratePerSecond === undefined){
const err36 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "ratePerSecond"},message:"must have required property '"+"ratePerSecond"+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data12.windowMs === undefined){
const err37 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "windowMs"},message:"must have required property '"+"windowMs"+"'"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(data12.warmUpMs === undefined){
const err38 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "warmUpMs"},message:"must have required property '"+"warmUpMs"+"'"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(data12.rampMs === undefined){
const err39 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "rampMs"},message:"must have required property '"+"rampMs"+"'"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
if(data12.percentile === undefined){
const err40 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "percentile"},message:"must have required property '"+"percentile"+"'"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
if(data12.requests === undefined){
const err41 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "requests"},message:"must have required property '"+"requests"+"'"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
if(data12.modelCalls === undefined){
const err42 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/required",keyword:"required",params:{missingProperty: "modelCalls"},message:"must have required property '"+"modelCalls"+"'"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
if(data12.engine !== undefined){
let data13 = data12.engine;
if(typeof data13 !== "string"){
const err43 = {instancePath:instancePath+"/plan/engine",schemaPath:"#/properties/plan/properties/engine/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(!((data13 === "open") || (data13 === "autocannon"))){
const err44 = {instancePath:instancePath+"/plan/engine",schemaPath:"#/properties/plan/properties/engine/enum",keyword:"enum",params:{allowedValues: schema44.properties.plan.properties.engine.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data12.profile !== undefined){
let data14 = data12.profile;
if(typeof data14 !== "string"){
const err45 = {instancePath:instancePath+"/plan/profile",schemaPath:"#/properties/plan/properties/profile/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
if(!((((data14 === "chat") || (data14 === "conversation")) || (data14 === "health")) || (data14 === "mixed"))){
const err46 = {instancePath:instancePath+"/plan/profile",schemaPath:"#/properties/plan/properties/profile/enum",keyword:"enum",params:{allowedValues: schema44.properties.plan.properties.profile.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
if(data12.arrivals !== undefined){
let data15 = data12.arrivals;
if(typeof data15 !== "string"){
const err47 = {instancePath:instancePath+"/plan/arrivals",schemaPath:"#/properties/plan/properties/arrivals/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
if(!((data15 === "uniform") || (data15 === "poisson"))){
const err48 = {instancePath:instancePath+"/plan/arrivals",schemaPath:"#/properties/plan/properties/arrivals/enum",keyword:"enum",params:{allowedValues: schema44.properties.plan.properties.arrivals.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data12.ratePerSecond !== undefined){
let data16 = data12.ratePerSecond;
if(!((typeof data16 == "number") && (isFinite(data16)))){
const err49 = {instancePath:instancePath+"/plan/ratePerSecond",schemaPath:"#/properties/plan/properties/ratePerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data12.simulatedUsers !== undefined){
let data17 = data12.simulatedUsers;
if(!(((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17))) && (isFinite(data17)))){
const err50 = {instancePath:instancePath+"/plan/simulatedUsers",schemaPath:"#/properties/plan/properties/simulatedUsers/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
if((typeof data17 == "number") && (isFinite(data17))){
if(data17 < 0 || isNaN(data17)){
const err51 = {instancePath:instancePath+"/plan/simulatedUsers",schemaPath:"#/properties/plan/properties/simulatedUsers/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
if(data12.windowMs !== undefined){
let data18 = data12.windowMs;
if(!((typeof data18 == "number") && (isFinite(data18)))){
const err52 = {instancePath:instancePath+"/plan/windowMs",schemaPath:"#/properties/plan/properties/windowMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data12.warmUpMs !== undefined){
let data19 = data12.warmUpMs;
if(!((typeof data19 == "number") && (isFinite(data19)))){
const err53 = {instancePath:instancePath+"/plan/warmUpMs",schemaPath:"#/properties/plan/properties/warmUpMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data12.rampMs !== undefined){
let data20 = data12.rampMs;
if(!((typeof data20 == "number") && (isFinite(data20)))){
const err54 = {instancePath:instancePath+"/plan/rampMs",schemaPath:"#/properties/plan/properties/rampMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data12.percentile !== undefined){
let data21 = data12.percentile;
if(!((typeof data21 == "number") && (isFinite(data21)))){
const err55 = {instancePath:instancePath+"/plan/percentile",schemaPath:"#/properties/plan/properties/percentile/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
if(data12.requests !== undefined){
let data22 = data12.requests;
if(!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))){
const err56 = {instancePath:instancePath+"/plan/requests",schemaPath:"#/properties/plan/properties/requests/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 0 || isNaN(data22)){
const err57 = {instancePath:instancePath+"/plan/requests",schemaPath:"#/properties/plan/properties/requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
}
if(data12.modelCalls !== undefined){
let data23 = data12.modelCalls;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
const err58 = {instancePath:instancePath+"/plan/modelCalls",schemaPath:"#/properties/plan/properties/modelCalls/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 < 0 || isNaN(data23)){
const err59 = {instancePath:instancePath+"/plan/modelCalls",schemaPath:"#/properties/plan/properties/modelCalls/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
}
else {
const err60 = {instancePath:instancePath+"/plan",schemaPath:"#/properties/plan/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data.targets !== undefined){
let data24 = data.targets;
if(Array.isArray(data24)){
const len0 = data24.length;
for(let i0=0; i0<len0; i0++){
let data25 = data24[i0];
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
if(data25.id === undefined){
const err61 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if(data25.says === undefined){
const err62 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
if(data25.section === undefined){
const err63 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "section"},message:"must have required property '"+"section"+"'"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if(data25.target === undefined){
const err64 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "target"},message:"must have required property '"+"target"+"'"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if(data25.unit === undefined){
const err65 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "unit"},message:"must have required property '"+"unit"+"'"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
if(data25.measured === undefined){
const err66 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "measured"},message:"must have required property '"+"measured"+"'"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(data25.bound95 === undefined){
const err67 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "bound95"},message:"must have required property '"+"bound95"+"'"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
if(data25.range95 === undefined){
const err68 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "range95"},message:"must have required property '"+"range95"+"'"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
if(data25.samples === undefined){
const err69 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "samples"},message:"must have required property '"+"samples"+"'"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
if(data25.verdict === undefined){
const err70 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
if(data25.reason === undefined){
const err71 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
if(data25.id !== undefined){
let data26 = data25.id;
if(typeof data26 !== "string"){
const err72 = {instancePath:instancePath+"/targets/" + i0+"/id",schemaPath:"#/properties/targets/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
if(!(((((((data26 === "chat-latency") || (data26 === "chat-throughput")) || (data26 === "availability")) || (data26 === "health-latency")) || (data26 === "chat-sessions")) || (data26 === "voice-latency")) || (data26 === "voice-connections"))){
const err73 = {instancePath:instancePath+"/targets/" + i0+"/id",schemaPath:"#/properties/targets/items/properties/id/enum",keyword:"enum",params:{allowedValues: schema44.properties.targets.items.properties.id.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
if(data25.says !== undefined){
if(typeof data25.says !== "string"){
const err74 = {instancePath:instancePath+"/targets/" + i0+"/says",schemaPath:"#/properties/targets/items/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data25.section !== undefined){
if(typeof data25.section !== "string"){
const err75 = {instancePath:instancePath+"/targets/" + i0+"/section",schemaPath:"#/properties/targets/items/properties/section/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data25.target !== undefined){
let data29 = data25.target;
if(!((typeof data29 == "number") && (isFinite(data29)))){
const err76 = {instancePath:instancePath+"/targets/" + i0+"/target",schemaPath:"#/properties/targets/items/properties/target/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data25.unit !== undefined){
let data30 = data25.unit;
if(typeof data30 !== "string"){
const err77 = {instancePath:instancePath+"/targets/" + i0+"/unit",schemaPath:"#/properties/targets/items/properties/unit/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if(!((((data30 === "ms") || (data30 === "requests/s")) || (data30 === "%")) || (data30 === "connections"))){
const err78 = {instancePath:instancePath+"/targets/" + i0+"/unit",schemaPath:"#/properties/targets/items/properties/unit/enum",keyword:"enum",params:{allowedValues: schema44.properties.targets.items.properties.unit.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
if(data25.measured !== undefined){
let data31 = data25.measured;
if((!((typeof data31 == "number") && (isFinite(data31)))) && (data31 !== null)){
const err79 = {instancePath:instancePath+"/targets/" + i0+"/measured",schemaPath:"#/properties/targets/items/properties/measured/type",keyword:"type",params:{type: schema44.properties.targets.items.properties.measured.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
if(data25.bound95 !== undefined){
let data32 = data25.bound95;
if((!((typeof data32 == "number") && (isFinite(data32)))) && (data32 !== null)){
const err80 = {instancePath:instancePath+"/targets/" + i0+"/bound95",schemaPath:"#/properties/targets/items/properties/bound95/type",keyword:"type",params:{type: schema44.properties.targets.items.properties.bound95.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data25.range95 !== undefined){
let data33 = data25.range95;
if(Array.isArray(data33)){
if(data33.length < 2){
const err81 = {instancePath:instancePath+"/targets/" + i0+"/range95",schemaPath:"#/properties/targets/items/properties/range95/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
const len1 = data33.length;
for(let i1=0; i1<len1; i1++){
let data34 = data33[i1];
if((!((typeof data34 == "number") && (isFinite(data34)))) && (data34 !== null)){
const err82 = {instancePath:instancePath+"/targets/" + i0+"/range95/" + i1,schemaPath:"#/properties/targets/items/properties/range95/items/type",keyword:"type",params:{type: schema44.properties.targets.items.properties.range95.items.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
}
else {
const err83 = {instancePath:instancePath+"/targets/" + i0+"/range95",schemaPath:"#/properties/targets/items/properties/range95/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data25.samples !== undefined){
let data35 = data25.samples;
if(!(((typeof data35 == "number") && (!(data35 % 1) && !isNaN(data35))) && (isFinite(data35)))){
const err84 = {instancePath:instancePath+"/targets/" + i0+"/samples",schemaPath:"#/properties/targets/items/properties/samples/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
if((typeof data35 == "number") && (isFinite(data35))){
if(data35 < 0 || isNaN(data35)){
const err85 = {instancePath:instancePath+"/targets/" + i0+"/samples",schemaPath:"#/properties/targets/items/properties/samples/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
}
if(data25.verdict !== undefined){
let data36 = data25.verdict;
if(typeof data36 !== "string"){
const err86 = {instancePath:instancePath+"/targets/" + i0+"/verdict",schemaPath:"#/definitions/loadVerdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
if(!(((((data36 === "PASS") || (data36 === "FAIL")) || (data36 === "NOT PROVEN")) || (data36 === "INVALID RUN")) || (data36 === "NOT TESTED"))){
const err87 = {instancePath:instancePath+"/targets/" + i0+"/verdict",schemaPath:"#/definitions/loadVerdict/enum",keyword:"enum",params:{allowedValues: schema45.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data25.reason !== undefined){
if(typeof data25.reason !== "string"){
const err88 = {instancePath:instancePath+"/targets/" + i0+"/reason",schemaPath:"#/properties/targets/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
}
else {
const err89 = {instancePath:instancePath+"/targets/" + i0,schemaPath:"#/properties/targets/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
}
else {
const err90 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
if(data.selfCheck !== undefined){
let data38 = data.selfCheck;
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
if(data38.valid === undefined){
const err91 = {instancePath:instancePath+"/selfCheck",schemaPath:"#/properties/selfCheck/required",keyword:"required",params:{missingProperty: "valid"},message:"must have required property '"+"valid"+"'"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
if(data38.reasons === undefined){
const err92 = {instancePath:instancePath+"/selfCheck",schemaPath:"#/properties/selfCheck/required",keyword:"required",params:{missingProperty: "reasons"},message:"must have required property '"+"reasons"+"'"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
if(data38.figures === undefined){
const err93 = {instancePath:instancePath+"/selfCheck",schemaPath:"#/properties/selfCheck/required",keyword:"required",params:{missingProperty: "figures"},message:"must have required property '"+"figures"+"'"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
if(data38.valid !== undefined){
if(typeof data38.valid !== "boolean"){
const err94 = {instancePath:instancePath+"/selfCheck/valid",schemaPath:"#/properties/selfCheck/properties/valid/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
if(data38.reasons !== undefined){
let data40 = data38.reasons;
if(Array.isArray(data40)){
const len2 = data40.length;
for(let i2=0; i2<len2; i2++){
if(typeof data40[i2] !== "string"){
const err95 = {instancePath:instancePath+"/selfCheck/reasons/" + i2,schemaPath:"#/properties/selfCheck/properties/reasons/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
}
else {
const err96 = {instancePath:instancePath+"/selfCheck/reasons",schemaPath:"#/properties/selfCheck/properties/reasons/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
if(data38.figures !== undefined){
let data42 = data38.figures;
if(Array.isArray(data42)){
const len3 = data42.length;
for(let i3=0; i3<len3; i3++){
let data43 = data42[i3];
if(data43 && typeof data43 == "object" && !Array.isArray(data43)){
if(data43.name === undefined){
const err97 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
if(data43.value === undefined){
const err98 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
if(data43.limit === undefined){
const err99 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/required",keyword:"required",params:{missingProperty: "limit"},message:"must have required property '"+"limit"+"'"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
if(data43.unit === undefined){
const err100 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/required",keyword:"required",params:{missingProperty: "unit"},message:"must have required property '"+"unit"+"'"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
if(data43.holds === undefined){
const err101 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/required",keyword:"required",params:{missingProperty: "holds"},message:"must have required property '"+"holds"+"'"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
if(data43.name !== undefined){
if(typeof data43.name !== "string"){
const err102 = {instancePath:instancePath+"/selfCheck/figures/" + i3+"/name",schemaPath:"#/properties/selfCheck/properties/figures/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
if(data43.value !== undefined){
let data45 = data43.value;
if(!((typeof data45 == "number") && (isFinite(data45)))){
const err103 = {instancePath:instancePath+"/selfCheck/figures/" + i3+"/value",schemaPath:"#/properties/selfCheck/properties/figures/items/properties/value/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
if(data43.limit !== undefined){
let data46 = data43.limit;
if(!((typeof data46 == "number") && (isFinite(data46)))){
const err104 = {instancePath:instancePath+"/selfCheck/figures/" + i3+"/limit",schemaPath:"#/properties/selfCheck/properties/figures/items/properties/limit/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
if(data43.unit !== undefined){
if(typeof data43.unit !== "string"){
const err105 = {instancePath:instancePath+"/selfCheck/figures/" + i3+"/unit",schemaPath:"#/properties/selfCheck/properties/figures/items/properties/unit/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
if(data43.holds !== undefined){
if(typeof data43.holds !== "boolean"){
const err106 = {instancePath:instancePath+"/selfCheck/figures/" + i3+"/holds",schemaPath:"#/properties/selfCheck/properties/figures/items/properties/holds/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
}
else {
const err107 = {instancePath:instancePath+"/selfCheck/figures/" + i3,schemaPath:"#/properties/selfCheck/properties/figures/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
}
else {
const err108 = {instancePath:instancePath+"/selfCheck/figures",schemaPath:"#/properties/selfCheck/properties/figures/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
}
else {
const err109 = {instancePath:instancePath+"/selfCheck",schemaPath:"#/properties/selfCheck/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
if(data.chat !== undefined){
if(!(validate30(data.chat, {instancePath:instancePath+"/chat",parentData:data,parentDataProperty:"chat",rootData}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
}
if(data.health !== undefined){
if(!(validate30(data.health, {instancePath:instancePath+"/health",parentData:data,parentDataProperty:"health",rootData}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
}
if(data.users !== undefined){
if(!(validate30(data.users, {instancePath:instancePath+"/users",parentData:data,parentDataProperty:"users",rootData}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
}
if(data.streams !== undefined){
let data52 = data.streams;
if(Array.isArray(data52)){
const len4 = data52.length;
for(let i4=0; i4<len4; i4++){
let data53 = data52[i4];
if(typeof data53 !== "string"){
const err110 = {instancePath:instancePath+"/streams/" + i4,schemaPath:"#/properties/streams/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
if(!(((data53 === "chat") || (data53 === "health")) || (data53 === "users"))){
const err111 = {instancePath:instancePath+"/streams/" + i4,schemaPath:"#/properties/streams/items/enum",keyword:"enum",params:{allowedValues: schema44.properties.streams.items.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
}
else {
const err112 = {instancePath:instancePath+"/streams",schemaPath:"#/properties/streams/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
if(data.warmUp !== undefined){
let data54 = data.warmUp;
if(data54 && typeof data54 == "object" && !Array.isArray(data54)){
if(data54.connections === undefined){
const err113 = {instancePath:instancePath+"/warmUp",schemaPath:"#/properties/warmUp/required",keyword:"required",params:{missingProperty: "connections"},message:"must have required property '"+"connections"+"'"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
if(data54.requests === undefined){
const err114 = {instancePath:instancePath+"/warmUp",schemaPath:"#/properties/warmUp/required",keyword:"required",params:{missingProperty: "requests"},message:"must have required property '"+"requests"+"'"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
if(data54.errors === undefined){
const err115 = {instancePath:instancePath+"/warmUp",schemaPath:"#/properties/warmUp/required",keyword:"required",params:{missingProperty: "errors"},message:"must have required property '"+"errors"+"'"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
if(data54.p50Ms === undefined){
const err116 = {instancePath:instancePath+"/warmUp",schemaPath:"#/properties/warmUp/required",keyword:"required",params:{missingProperty: "p50Ms"},message:"must have required property '"+"p50Ms"+"'"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
if(data54.connections !== undefined){
let data55 = data54.connections;
if(!(((typeof data55 == "number") && (!(data55 % 1) && !isNaN(data55))) && (isFinite(data55)))){
const err117 = {instancePath:instancePath+"/warmUp/connections",schemaPath:"#/properties/warmUp/properties/connections/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
if((typeof data55 == "number") && (isFinite(data55))){
if(data55 < 0 || isNaN(data55)){
const err118 = {instancePath:instancePath+"/warmUp/connections",schemaPath:"#/properties/warmUp/properties/connections/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
}
if(data54.requests !== undefined){
let data56 = data54.requests;
if(!(((typeof data56 == "number") && (!(data56 % 1) && !isNaN(data56))) && (isFinite(data56)))){
const err119 = {instancePath:instancePath+"/warmUp/requests",schemaPath:"#/properties/warmUp/properties/requests/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
if((typeof data56 == "number") && (isFinite(data56))){
if(data56 < 0 || isNaN(data56)){
const err120 = {instancePath:instancePath+"/warmUp/requests",schemaPath:"#/properties/warmUp/properties/requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
}
if(data54.errors !== undefined){
let data57 = data54.errors;
if(!(((typeof data57 == "number") && (!(data57 % 1) && !isNaN(data57))) && (isFinite(data57)))){
const err121 = {instancePath:instancePath+"/warmUp/errors",schemaPath:"#/properties/warmUp/properties/errors/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
if((typeof data57 == "number") && (isFinite(data57))){
if(data57 < 0 || isNaN(data57)){
const err122 = {instancePath:instancePath+"/warmUp/errors",schemaPath:"#/properties/warmUp/properties/errors/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
}
if(data54.p50Ms !== undefined){
let data58 = data54.p50Ms;
if((!((typeof data58 == "number") && (isFinite(data58)))) && (data58 !== null)){
const err123 = {instancePath:instancePath+"/warmUp/p50Ms",schemaPath:"#/properties/warmUp/properties/p50Ms/type",keyword:"type",params:{type: schema44.properties.warmUp.properties.p50Ms.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
}
else {
const err124 = {instancePath:instancePath+"/warmUp",schemaPath:"#/properties/warmUp/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
}
if(data.outages !== undefined){
let data59 = data.outages;
if(data59 && typeof data59 == "object" && !Array.isArray(data59)){
if(data59.seconds === undefined){
const err125 = {instancePath:instancePath+"/outages",schemaPath:"#/properties/outages/required",keyword:"required",params:{missingProperty: "seconds"},message:"must have required property '"+"seconds"+"'"};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
if(data59.cleanSeconds === undefined){
const err126 = {instancePath:instancePath+"/outages",schemaPath:"#/properties/outages/required",keyword:"required",params:{missingProperty: "cleanSeconds"},message:"must have required property '"+"cleanSeconds"+"'"};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
if(data59.longestMs === undefined){
const err127 = {instancePath:instancePath+"/outages",schemaPath:"#/properties/outages/required",keyword:"required",params:{missingProperty: "longestMs"},message:"must have required property '"+"longestMs"+"'"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
if(data59.incidents === undefined){
const err128 = {instancePath:instancePath+"/outages",schemaPath:"#/properties/outages/required",keyword:"required",params:{missingProperty: "incidents"},message:"must have required property '"+"incidents"+"'"};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
if(data59.seconds !== undefined){
let data60 = data59.seconds;
if(!(((typeof data60 == "number") && (!(data60 % 1) && !isNaN(data60))) && (isFinite(data60)))){
const err129 = {instancePath:instancePath+"/outages/seconds",schemaPath:"#/properties/outages/properties/seconds/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
if((typeof data60 == "number") && (isFinite(data60))){
if(data60 < 0 || isNaN(data60)){
const err130 = {instancePath:instancePath+"/outages/seconds",schemaPath:"#/properties/outages/properties/seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
}
if(data59.cleanSeconds !== undefined){
let data61 = data59.cleanSeconds;
if(!(((typeof data61 == "number") && (!(data61 % 1) && !isNaN(data61))) && (isFinite(data61)))){
const err131 = {instancePath:instancePath+"/outages/cleanSeconds",schemaPath:"#/properties/outages/properties/cleanSeconds/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
if((typeof data61 == "number") && (isFinite(data61))){
if(data61 < 0 || isNaN(data61)){
const err132 = {instancePath:instancePath+"/outages/cleanSeconds",schemaPath:"#/properties/outages/properties/cleanSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
}
if(data59.longestMs !== undefined){
let data62 = data59.longestMs;
if(!((typeof data62 == "number") && (isFinite(data62)))){
const err133 = {instancePath:instancePath+"/outages/longestMs",schemaPath:"#/properties/outages/properties/longestMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data59.incidents !== undefined){
let data63 = data59.incidents;
if(!(((typeof data63 == "number") && (!(data63 % 1) && !isNaN(data63))) && (isFinite(data63)))){
const err134 = {instancePath:instancePath+"/outages/incidents",schemaPath:"#/properties/outages/properties/incidents/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
if((typeof data63 == "number") && (isFinite(data63))){
if(data63 < 0 || isNaN(data63)){
const err135 = {instancePath:instancePath+"/outages/incidents",schemaPath:"#/properties/outages/properties/incidents/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
}
}
}
else {
const err136 = {instancePath:instancePath+"/outages",schemaPath:"#/properties/outages/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
if(data.trend !== undefined){
let data64 = data.trend;
if(data64 && typeof data64 == "object" && !Array.isArray(data64)){
if(data64.perSecond === undefined){
const err137 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/required",keyword:"required",params:{missingProperty: "perSecond"},message:"must have required property '"+"perSecond"+"'"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
if(data64.range95 === undefined){
const err138 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/required",keyword:"required",params:{missingProperty: "range95"},message:"must have required property '"+"range95"+"'"};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
if(data64.atStart === undefined){
const err139 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/required",keyword:"required",params:{missingProperty: "atStart"},message:"must have required property '"+"atStart"+"'"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
if(data64.atEnd === undefined){
const err140 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/required",keyword:"required",params:{missingProperty: "atEnd"},message:"must have required property '"+"atEnd"+"'"};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
if(data64.rising === undefined){
const err141 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/required",keyword:"required",params:{missingProperty: "rising"},message:"must have required property '"+"rising"+"'"};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
if(data64.perSecond !== undefined){
let data65 = data64.perSecond;
if(!((typeof data65 == "number") && (isFinite(data65)))){
const err142 = {instancePath:instancePath+"/trend/perSecond",schemaPath:"#/properties/trend/properties/perSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
if(data64.range95 !== undefined){
let data66 = data64.range95;
if(Array.isArray(data66)){
if(data66.length < 2){
const err143 = {instancePath:instancePath+"/trend/range95",schemaPath:"#/properties/trend/properties/range95/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
const len5 = data66.length;
for(let i5=0; i5<len5; i5++){
let data67 = data66[i5];
if(!((typeof data67 == "number") && (isFinite(data67)))){
const err144 = {instancePath:instancePath+"/trend/range95/" + i5,schemaPath:"#/properties/trend/properties/range95/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
}
else {
const err145 = {instancePath:instancePath+"/trend/range95",schemaPath:"#/properties/trend/properties/range95/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
}
if(data64.atStart !== undefined){
let data68 = data64.atStart;
if(!((typeof data68 == "number") && (isFinite(data68)))){
const err146 = {instancePath:instancePath+"/trend/atStart",schemaPath:"#/properties/trend/properties/atStart/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
}
if(data64.atEnd !== undefined){
let data69 = data64.atEnd;
if(!((typeof data69 == "number") && (isFinite(data69)))){
const err147 = {instancePath:instancePath+"/trend/atEnd",schemaPath:"#/properties/trend/properties/atEnd/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
}
if(data64.rising !== undefined){
if(typeof data64.rising !== "boolean"){
const err148 = {instancePath:instancePath+"/trend/rising",schemaPath:"#/properties/trend/properties/rising/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
}
}
else {
const err149 = {instancePath:instancePath+"/trend",schemaPath:"#/properties/trend/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
}
if(data.timeline !== undefined){
let data71 = data.timeline;
if(Array.isArray(data71)){
const len6 = data71.length;
for(let i6=0; i6<len6; i6++){
let data72 = data71[i6];
if(data72 && typeof data72 == "object" && !Array.isArray(data72)){
if(data72.second === undefined){
const err150 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "second"},message:"must have required property '"+"second"+"'"};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
if(data72.phase === undefined){
const err151 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "phase"},message:"must have required property '"+"phase"+"'"};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
if(data72.offered === undefined){
const err152 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "offered"},message:"must have required property '"+"offered"+"'"};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
if(data72.sent === undefined){
const err153 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "sent"},message:"must have required property '"+"sent"+"'"};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
if(data72.done === undefined){
const err154 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "done"},message:"must have required property '"+"done"+"'"};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
if(data72.ok === undefined){
const err155 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "ok"},message:"must have required property '"+"ok"+"'"};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
if(data72.inFlight === undefined){
const err156 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "inFlight"},message:"must have required property '"+"inFlight"+"'"};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
if(data72.p50 === undefined){
const err157 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "p50"},message:"must have required property '"+"p50"+"'"};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
if(data72.p95 === undefined){
const err158 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "p95"},message:"must have required property '"+"p95"+"'"};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
if(data72.p99 === undefined){
const err159 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "p99"},message:"must have required property '"+"p99"+"'"};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
if(data72.max === undefined){
const err160 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
if(data72.errors === undefined){
const err161 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "errors"},message:"must have required property '"+"errors"+"'"};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
if(data72.heat === undefined){
const err162 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/required",keyword:"required",params:{missingProperty: "heat"},message:"must have required property '"+"heat"+"'"};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
if(data72.second !== undefined){
let data73 = data72.second;
if(!(((typeof data73 == "number") && (!(data73 % 1) && !isNaN(data73))) && (isFinite(data73)))){
const err163 = {instancePath:instancePath+"/timeline/" + i6+"/second",schemaPath:"#/properties/timeline/items/properties/second/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
}
if(data72.phase !== undefined){
let data74 = data72.phase;
if(typeof data74 !== "string"){
const err164 = {instancePath:instancePath+"/timeline/" + i6+"/phase",schemaPath:"#/properties/timeline/items/properties/phase/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
if(!(((data74 === "ramp") || (data74 === "window")) || (data74 === "drain"))){
const err165 = {instancePath:instancePath+"/timeline/" + i6+"/phase",schemaPath:"#/properties/timeline/items/properties/phase/enum",keyword:"enum",params:{allowedValues: schema44.properties.timeline.items.properties.phase.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
}
if(data72.offered !== undefined){
let data75 = data72.offered;
if(!(((typeof data75 == "number") && (!(data75 % 1) && !isNaN(data75))) && (isFinite(data75)))){
const err166 = {instancePath:instancePath+"/timeline/" + i6+"/offered",schemaPath:"#/properties/timeline/items/properties/offered/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
if((typeof data75 == "number") && (isFinite(data75))){
if(data75 < 0 || isNaN(data75)){
const err167 = {instancePath:instancePath+"/timeline/" + i6+"/offered",schemaPath:"#/properties/timeline/items/properties/offered/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
}
}
if(data72.sent !== undefined){
let data76 = data72.sent;
if(!(((typeof data76 == "number") && (!(data76 % 1) && !isNaN(data76))) && (isFinite(data76)))){
const err168 = {instancePath:instancePath+"/timeline/" + i6+"/sent",schemaPath:"#/properties/timeline/items/properties/sent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
if((typeof data76 == "number") && (isFinite(data76))){
if(data76 < 0 || isNaN(data76)){
const err169 = {instancePath:instancePath+"/timeline/" + i6+"/sent",schemaPath:"#/properties/timeline/items/properties/sent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
}
}
if(data72.done !== undefined){
let data77 = data72.done;
if(!(((typeof data77 == "number") && (!(data77 % 1) && !isNaN(data77))) && (isFinite(data77)))){
const err170 = {instancePath:instancePath+"/timeline/" + i6+"/done",schemaPath:"#/properties/timeline/items/properties/done/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
if((typeof data77 == "number") && (isFinite(data77))){
if(data77 < 0 || isNaN(data77)){
const err171 = {instancePath:instancePath+"/timeline/" + i6+"/done",schemaPath:"#/properties/timeline/items/properties/done/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
}
}
if(data72.ok !== undefined){
let data78 = data72.ok;
if(!(((typeof data78 == "number") && (!(data78 % 1) && !isNaN(data78))) && (isFinite(data78)))){
const err172 = {instancePath:instancePath+"/timeline/" + i6+"/ok",schemaPath:"#/properties/timeline/items/properties/ok/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
if((typeof data78 == "number") && (isFinite(data78))){
if(data78 < 0 || isNaN(data78)){
const err173 = {instancePath:instancePath+"/timeline/" + i6+"/ok",schemaPath:"#/properties/timeline/items/properties/ok/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
}
}
if(data72.inFlight !== undefined){
let data79 = data72.inFlight;
if(!(((typeof data79 == "number") && (!(data79 % 1) && !isNaN(data79))) && (isFinite(data79)))){
const err174 = {instancePath:instancePath+"/timeline/" + i6+"/inFlight",schemaPath:"#/properties/timeline/items/properties/inFlight/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
if((typeof data79 == "number") && (isFinite(data79))){
if(data79 < 0 || isNaN(data79)){
const err175 = {instancePath:instancePath+"/timeline/" + i6+"/inFlight",schemaPath:"#/properties/timeline/items/properties/inFlight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
}
}
if(data72.p50 !== undefined){
let data80 = data72.p50;
if((!((typeof data80 == "number") && (isFinite(data80)))) && (data80 !== null)){
const err176 = {instancePath:instancePath+"/timeline/" + i6+"/p50",schemaPath:"#/properties/timeline/items/properties/p50/type",keyword:"type",params:{type: schema44.properties.timeline.items.properties.p50.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
}
if(data72.p95 !== undefined){
let data81 = data72.p95;
if((!((typeof data81 == "number") && (isFinite(data81)))) && (data81 !== null)){
const err177 = {instancePath:instancePath+"/timeline/" + i6+"/p95",schemaPath:"#/properties/timeline/items/properties/p95/type",keyword:"type",params:{type: schema44.properties.timeline.items.properties.p95.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
}
if(data72.p99 !== undefined){
let data82 = data72.p99;
if((!((typeof data82 == "number") && (isFinite(data82)))) && (data82 !== null)){
const err178 = {instancePath:instancePath+"/timeline/" + i6+"/p99",schemaPath:"#/properties/timeline/items/properties/p99/type",keyword:"type",params:{type: schema44.properties.timeline.items.properties.p99.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
}
if(data72.max !== undefined){
let data83 = data72.max;
if((!((typeof data83 == "number") && (isFinite(data83)))) && (data83 !== null)){
const err179 = {instancePath:instancePath+"/timeline/" + i6+"/max",schemaPath:"#/properties/timeline/items/properties/max/type",keyword:"type",params:{type: schema44.properties.timeline.items.properties.max.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
}
if(data72.errors !== undefined){
let data84 = data72.errors;
if(data84 && typeof data84 == "object" && !Array.isArray(data84)){
for(const key0 in data84){
let data85 = data84[key0];
if(!(((typeof data85 == "number") && (!(data85 % 1) && !isNaN(data85))) && (isFinite(data85)))){
const err180 = {instancePath:instancePath+"/timeline/" + i6+"/errors/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/faultCounts/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
if((typeof data85 == "number") && (isFinite(data85))){
if(data85 < 1 || isNaN(data85)){
const err181 = {instancePath:instancePath+"/timeline/" + i6+"/errors/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/faultCounts/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
}
}
}
else {
const err182 = {instancePath:instancePath+"/timeline/" + i6+"/errors",schemaPath:"#/definitions/faultCounts/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
}
if(data72.heat !== undefined){
let data86 = data72.heat;
if(Array.isArray(data86)){
const len7 = data86.length;
for(let i7=0; i7<len7; i7++){
let data87 = data86[i7];
if(!(((typeof data87 == "number") && (!(data87 % 1) && !isNaN(data87))) && (isFinite(data87)))){
const err183 = {instancePath:instancePath+"/timeline/" + i6+"/heat/" + i7,schemaPath:"#/properties/timeline/items/properties/heat/items/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
}
}
else {
const err184 = {instancePath:instancePath+"/timeline/" + i6+"/heat",schemaPath:"#/properties/timeline/items/properties/heat/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
}
}
else {
const err185 = {instancePath:instancePath+"/timeline/" + i6,schemaPath:"#/properties/timeline/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
}
}
else {
const err186 = {instancePath:instancePath+"/timeline",schemaPath:"#/properties/timeline/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
}
if(data.heatBoundsMs !== undefined){
let data88 = data.heatBoundsMs;
if(Array.isArray(data88)){
const len8 = data88.length;
for(let i8=0; i8<len8; i8++){
let data89 = data88[i8];
if(!((typeof data89 == "number") && (isFinite(data89)))){
const err187 = {instancePath:instancePath+"/heatBoundsMs/" + i8,schemaPath:"#/properties/heatBoundsMs/items/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
}
}
else {
const err188 = {instancePath:instancePath+"/heatBoundsMs",schemaPath:"#/properties/heatBoundsMs/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
}
if(data.curve !== undefined){
let data90 = data.curve;
if(Array.isArray(data90)){
const len9 = data90.length;
for(let i9=0; i9<len9; i9++){
let data91 = data90[i9];
if(data91 && typeof data91 == "object" && !Array.isArray(data91)){
if(data91.percentile === undefined){
const err189 = {instancePath:instancePath+"/curve/" + i9,schemaPath:"#/properties/curve/items/required",keyword:"required",params:{missingProperty: "percentile"},message:"must have required property '"+"percentile"+"'"};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
if(data91.responseMs === undefined){
const err190 = {instancePath:instancePath+"/curve/" + i9,schemaPath:"#/properties/curve/items/required",keyword:"required",params:{missingProperty: "responseMs"},message:"must have required property '"+"responseMs"+"'"};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
if(data91.serviceMs === undefined){
const err191 = {instancePath:instancePath+"/curve/" + i9,schemaPath:"#/properties/curve/items/required",keyword:"required",params:{missingProperty: "serviceMs"},message:"must have required property '"+"serviceMs"+"'"};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
if(data91.percentile !== undefined){
let data92 = data91.percentile;
if(!((typeof data92 == "number") && (isFinite(data92)))){
const err192 = {instancePath:instancePath+"/curve/" + i9+"/percentile",schemaPath:"#/properties/curve/items/properties/percentile/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err192];
}
else {
vErrors.push(err192);
}
errors++;
}
}
if(data91.responseMs !== undefined){
let data93 = data91.responseMs;
if(!((typeof data93 == "number") && (isFinite(data93)))){
const err193 = {instancePath:instancePath+"/curve/" + i9+"/responseMs",schemaPath:"#/properties/curve/items/properties/responseMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err193];
}
else {
vErrors.push(err193);
}
errors++;
}
}
if(data91.serviceMs !== undefined){
let data94 = data91.serviceMs;
if(!((typeof data94 == "number") && (isFinite(data94)))){
const err194 = {instancePath:instancePath+"/curve/" + i9+"/serviceMs",schemaPath:"#/properties/curve/items/properties/serviceMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err194];
}
else {
vErrors.push(err194);
}
errors++;
}
}
}
else {
const err195 = {instancePath:instancePath+"/curve/" + i9,schemaPath:"#/properties/curve/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err195];
}
else {
vErrors.push(err195);
}
errors++;
}
}
}
else {
const err196 = {instancePath:instancePath+"/curve",schemaPath:"#/properties/curve/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err196];
}
else {
vErrors.push(err196);
}
errors++;
}
}
if(data.faultSamples !== undefined){
let data95 = data.faultSamples;
if(Array.isArray(data95)){
const len10 = data95.length;
for(let i10=0; i10<len10; i10++){
let data96 = data95[i10];
if(data96 && typeof data96 == "object" && !Array.isArray(data96)){
if(data96.kind === undefined){
const err197 = {instancePath:instancePath+"/faultSamples/" + i10,schemaPath:"#/properties/faultSamples/items/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err197];
}
else {
vErrors.push(err197);
}
errors++;
}
if(data96.stream === undefined){
const err198 = {instancePath:instancePath+"/faultSamples/" + i10,schemaPath:"#/properties/faultSamples/items/required",keyword:"required",params:{missingProperty: "stream"},message:"must have required property '"+"stream"+"'"};
if(vErrors === null){
vErrors = [err198];
}
else {
vErrors.push(err198);
}
errors++;
}
if(data96.atMs === undefined){
const err199 = {instancePath:instancePath+"/faultSamples/" + i10,schemaPath:"#/properties/faultSamples/items/required",keyword:"required",params:{missingProperty: "atMs"},message:"must have required property '"+"atMs"+"'"};
if(vErrors === null){
vErrors = [err199];
}
else {
vErrors.push(err199);
}
errors++;
}
if(data96.detail === undefined){
const err200 = {instancePath:instancePath+"/faultSamples/" + i10,schemaPath:"#/properties/faultSamples/items/required",keyword:"required",params:{missingProperty: "detail"},message:"must have required property '"+"detail"+"'"};
if(vErrors === null){
vErrors = [err200];
}
else {
vErrors.push(err200);
}
errors++;
}
if(data96.kind !== undefined){
let data97 = data96.kind;
if(typeof data97 !== "string"){
const err201 = {instancePath:instancePath+"/faultSamples/" + i10+"/kind",schemaPath:"#/definitions/faultKind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err201];
}
else {
vErrors.push(err201);
}
errors++;
}
if(!(((((((((((((((((data97 === "timeout") || (data97 === "refused")) || (data97 === "unresolved")) || (data97 === "tls")) || (data97 === "reset")) || (data97 === "stale_connection")) || (data97 === "cut_off")) || (data97 === "protocol")) || (data97 === "too_large")) || (data97 === "rate_limited")) || (data97 === "unauthorized")) || (data97 === "client_error")) || (data97 === "server_error")) || (data97 === "other_status")) || (data97 === "nonconforming")) || (data97 === "mixed_up")) || (data97 === "local"))){
const err202 = {instancePath:instancePath+"/faultSamples/" + i10+"/kind",schemaPath:"#/definitions/faultKind/enum",keyword:"enum",params:{allowedValues: schema54.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err202];
}
else {
vErrors.push(err202);
}
errors++;
}
}
if(data96.stream !== undefined){
if(typeof data96.stream !== "string"){
const err203 = {instancePath:instancePath+"/faultSamples/" + i10+"/stream",schemaPath:"#/properties/faultSamples/items/properties/stream/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err203];
}
else {
vErrors.push(err203);
}
errors++;
}
}
if(data96.atMs !== undefined){
let data99 = data96.atMs;
if(!((typeof data99 == "number") && (isFinite(data99)))){
const err204 = {instancePath:instancePath+"/faultSamples/" + i10+"/atMs",schemaPath:"#/properties/faultSamples/items/properties/atMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err204];
}
else {
vErrors.push(err204);
}
errors++;
}
}
if(data96.session !== undefined){
if(typeof data96.session !== "string"){
const err205 = {instancePath:instancePath+"/faultSamples/" + i10+"/session",schemaPath:"#/properties/faultSamples/items/properties/session/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err205];
}
else {
vErrors.push(err205);
}
errors++;
}
}
if(data96.detail !== undefined){
if(typeof data96.detail !== "string"){
const err206 = {instancePath:instancePath+"/faultSamples/" + i10+"/detail",schemaPath:"#/properties/faultSamples/items/properties/detail/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err206];
}
else {
vErrors.push(err206);
}
errors++;
}
}
}
else {
const err207 = {instancePath:instancePath+"/faultSamples/" + i10,schemaPath:"#/properties/faultSamples/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err207];
}
else {
vErrors.push(err207);
}
errors++;
}
}
}
else {
const err208 = {instancePath:instancePath+"/faultSamples",schemaPath:"#/properties/faultSamples/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err208];
}
else {
vErrors.push(err208);
}
errors++;
}
}
if(data.findMax !== undefined){
let data102 = data.findMax;
if(data102 && typeof data102 == "object" && !Array.isArray(data102)){
if(data102.sustains === undefined){
const err209 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/required",keyword:"required",params:{missingProperty: "sustains"},message:"must have required property '"+"sustains"+"'"};
if(vErrors === null){
vErrors = [err209];
}
else {
vErrors.push(err209);
}
errors++;
}
if(data102.fails === undefined){
const err210 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/required",keyword:"required",params:{missingProperty: "fails"},message:"must have required property '"+"fails"+"'"};
if(vErrors === null){
vErrors = [err210];
}
else {
vErrors.push(err210);
}
errors++;
}
if(data102.confirmed === undefined){
const err211 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/required",keyword:"required",params:{missingProperty: "confirmed"},message:"must have required property '"+"confirmed"+"'"};
if(vErrors === null){
vErrors = [err211];
}
else {
vErrors.push(err211);
}
errors++;
}
if(data102.says === undefined){
const err212 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/required",keyword:"required",params:{missingProperty: "says"},message:"must have required property '"+"says"+"'"};
if(vErrors === null){
vErrors = [err212];
}
else {
vErrors.push(err212);
}
errors++;
}
if(data102.steps === undefined){
const err213 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/required",keyword:"required",params:{missingProperty: "steps"},message:"must have required property '"+"steps"+"'"};
if(vErrors === null){
vErrors = [err213];
}
else {
vErrors.push(err213);
}
errors++;
}
if(data102.probePerSecond !== undefined){
let data103 = data102.probePerSecond;
if(!((typeof data103 == "number") && (isFinite(data103)))){
const err214 = {instancePath:instancePath+"/findMax/probePerSecond",schemaPath:"#/properties/findMax/properties/probePerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err214];
}
else {
vErrors.push(err214);
}
errors++;
}
}
if(data102.sustains !== undefined){
let data104 = data102.sustains;
if((!((typeof data104 == "number") && (isFinite(data104)))) && (data104 !== null)){
const err215 = {instancePath:instancePath+"/findMax/sustains",schemaPath:"#/properties/findMax/properties/sustains/type",keyword:"type",params:{type: schema44.properties.findMax.properties.sustains.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err215];
}
else {
vErrors.push(err215);
}
errors++;
}
}
if(data102.fails !== undefined){
let data105 = data102.fails;
if((!((typeof data105 == "number") && (isFinite(data105)))) && (data105 !== null)){
const err216 = {instancePath:instancePath+"/findMax/fails",schemaPath:"#/properties/findMax/properties/fails/type",keyword:"type",params:{type: schema44.properties.findMax.properties.fails.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err216];
}
else {
vErrors.push(err216);
}
errors++;
}
}
if(data102.confirmed !== undefined){
if(typeof data102.confirmed !== "boolean"){
const err217 = {instancePath:instancePath+"/findMax/confirmed",schemaPath:"#/properties/findMax/properties/confirmed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err217];
}
else {
vErrors.push(err217);
}
errors++;
}
}
if(data102.says !== undefined){
if(typeof data102.says !== "string"){
const err218 = {instancePath:instancePath+"/findMax/says",schemaPath:"#/properties/findMax/properties/says/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err218];
}
else {
vErrors.push(err218);
}
errors++;
}
}
if(data102.steps !== undefined){
let data108 = data102.steps;
if(Array.isArray(data108)){
const len11 = data108.length;
for(let i11=0; i11<len11; i11++){
let data109 = data108[i11];
if(data109 && typeof data109 == "object" && !Array.isArray(data109)){
if(data109.ratePerSecond === undefined){
const err219 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "ratePerSecond"},message:"must have required property '"+"ratePerSecond"+"'"};
if(vErrors === null){
vErrors = [err219];
}
else {
vErrors.push(err219);
}
errors++;
}
if(data109.durationMs === undefined){
const err220 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "durationMs"},message:"must have required property '"+"durationMs"+"'"};
if(vErrors === null){
vErrors = [err220];
}
else {
vErrors.push(err220);
}
errors++;
}
if(data109.holds === undefined){
const err221 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "holds"},message:"must have required property '"+"holds"+"'"};
if(vErrors === null){
vErrors = [err221];
}
else {
vErrors.push(err221);
}
errors++;
}
if(data109.donePerSecond === undefined){
const err222 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "donePerSecond"},message:"must have required property '"+"donePerSecond"+"'"};
if(vErrors === null){
vErrors = [err222];
}
else {
vErrors.push(err222);
}
errors++;
}
if(data109.p99Ms === undefined){
const err223 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "p99Ms"},message:"must have required property '"+"p99Ms"+"'"};
if(vErrors === null){
vErrors = [err223];
}
else {
vErrors.push(err223);
}
errors++;
}
if(data109.failedShare === undefined){
const err224 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "failedShare"},message:"must have required property '"+"failedShare"+"'"};
if(vErrors === null){
vErrors = [err224];
}
else {
vErrors.push(err224);
}
errors++;
}
if(data109.reason === undefined){
const err225 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'"};
if(vErrors === null){
vErrors = [err225];
}
else {
vErrors.push(err225);
}
errors++;
}
if(data109.ratePerSecond !== undefined){
let data110 = data109.ratePerSecond;
if(!((typeof data110 == "number") && (isFinite(data110)))){
const err226 = {instancePath:instancePath+"/findMax/steps/" + i11+"/ratePerSecond",schemaPath:"#/properties/findMax/properties/steps/items/properties/ratePerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err226];
}
else {
vErrors.push(err226);
}
errors++;
}
}
if(data109.durationMs !== undefined){
let data111 = data109.durationMs;
if(!((typeof data111 == "number") && (isFinite(data111)))){
const err227 = {instancePath:instancePath+"/findMax/steps/" + i11+"/durationMs",schemaPath:"#/properties/findMax/properties/steps/items/properties/durationMs/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err227];
}
else {
vErrors.push(err227);
}
errors++;
}
}
if(data109.holds !== undefined){
if(typeof data109.holds !== "boolean"){
const err228 = {instancePath:instancePath+"/findMax/steps/" + i11+"/holds",schemaPath:"#/properties/findMax/properties/steps/items/properties/holds/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err228];
}
else {
vErrors.push(err228);
}
errors++;
}
}
if(data109.donePerSecond !== undefined){
let data113 = data109.donePerSecond;
if(!((typeof data113 == "number") && (isFinite(data113)))){
const err229 = {instancePath:instancePath+"/findMax/steps/" + i11+"/donePerSecond",schemaPath:"#/properties/findMax/properties/steps/items/properties/donePerSecond/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err229];
}
else {
vErrors.push(err229);
}
errors++;
}
}
if(data109.p99Ms !== undefined){
let data114 = data109.p99Ms;
if((!((typeof data114 == "number") && (isFinite(data114)))) && (data114 !== null)){
const err230 = {instancePath:instancePath+"/findMax/steps/" + i11+"/p99Ms",schemaPath:"#/properties/findMax/properties/steps/items/properties/p99Ms/type",keyword:"type",params:{type: schema44.properties.findMax.properties.steps.items.properties.p99Ms.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err230];
}
else {
vErrors.push(err230);
}
errors++;
}
}
if(data109.failedShare !== undefined){
let data115 = data109.failedShare;
if(!((typeof data115 == "number") && (isFinite(data115)))){
const err231 = {instancePath:instancePath+"/findMax/steps/" + i11+"/failedShare",schemaPath:"#/properties/findMax/properties/steps/items/properties/failedShare/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err231];
}
else {
vErrors.push(err231);
}
errors++;
}
}
if(data109.reason !== undefined){
if(typeof data109.reason !== "string"){
const err232 = {instancePath:instancePath+"/findMax/steps/" + i11+"/reason",schemaPath:"#/properties/findMax/properties/steps/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err232];
}
else {
vErrors.push(err232);
}
errors++;
}
}
}
else {
const err233 = {instancePath:instancePath+"/findMax/steps/" + i11,schemaPath:"#/properties/findMax/properties/steps/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err233];
}
else {
vErrors.push(err233);
}
errors++;
}
}
}
else {
const err234 = {instancePath:instancePath+"/findMax/steps",schemaPath:"#/properties/findMax/properties/steps/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err234];
}
else {
vErrors.push(err234);
}
errors++;
}
}
}
else {
const err235 = {instancePath:instancePath+"/findMax",schemaPath:"#/properties/findMax/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err235];
}
else {
vErrors.push(err235);
}
errors++;
}
}
if(data.comparison !== undefined){
let data117 = data.comparison;
if(data117 && typeof data117 == "object" && !Array.isArray(data117)){
if(data117.startedAt === undefined){
const err236 = {instancePath:instancePath+"/comparison",schemaPath:"#/properties/comparison/required",keyword:"required",params:{missingProperty: "startedAt"},message:"must have required property '"+"startedAt"+"'"};
if(vErrors === null){
vErrors = [err236];
}
else {
vErrors.push(err236);
}
errors++;
}
if(data117.differences === undefined){
const err237 = {instancePath:instancePath+"/comparison",schemaPath:"#/properties/comparison/required",keyword:"required",params:{missingProperty: "differences"},message:"must have required property '"+"differences"+"'"};
if(vErrors === null){
vErrors = [err237];
}
else {
vErrors.push(err237);
}
errors++;
}
if(data117.rows === undefined){
const err238 = {instancePath:instancePath+"/comparison",schemaPath:"#/properties/comparison/required",keyword:"required",params:{missingProperty: "rows"},message:"must have required property '"+"rows"+"'"};
if(vErrors === null){
vErrors = [err238];
}
else {
vErrors.push(err238);
}
errors++;
}
if(data117.startedAt !== undefined){
if(typeof data117.startedAt !== "string"){
const err239 = {instancePath:instancePath+"/comparison/startedAt",schemaPath:"#/properties/comparison/properties/startedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err239];
}
else {
vErrors.push(err239);
}
errors++;
}
}
if(data117.differences !== undefined){
let data119 = data117.differences;
if(Array.isArray(data119)){
const len12 = data119.length;
for(let i12=0; i12<len12; i12++){
if(typeof data119[i12] !== "string"){
const err240 = {instancePath:instancePath+"/comparison/differences/" + i12,schemaPath:"#/properties/comparison/properties/differences/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err240];
}
else {
vErrors.push(err240);
}
errors++;
}
}
}
else {
const err241 = {instancePath:instancePath+"/comparison/differences",schemaPath:"#/properties/comparison/properties/differences/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err241];
}
else {
vErrors.push(err241);
}
errors++;
}
}
if(data117.rows !== undefined){
let data121 = data117.rows;
if(Array.isArray(data121)){
const len13 = data121.length;
for(let i13=0; i13<len13; i13++){
let data122 = data121[i13];
if(data122 && typeof data122 == "object" && !Array.isArray(data122)){
if(data122.id === undefined){
const err242 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err242];
}
else {
vErrors.push(err242);
}
errors++;
}
if(data122.unit === undefined){
const err243 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "unit"},message:"must have required property '"+"unit"+"'"};
if(vErrors === null){
vErrors = [err243];
}
else {
vErrors.push(err243);
}
errors++;
}
if(data122.before === undefined){
const err244 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "before"},message:"must have required property '"+"before"+"'"};
if(vErrors === null){
vErrors = [err244];
}
else {
vErrors.push(err244);
}
errors++;
}
if(data122.now === undefined){
const err245 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "now"},message:"must have required property '"+"now"+"'"};
if(vErrors === null){
vErrors = [err245];
}
else {
vErrors.push(err245);
}
errors++;
}
if(data122.change === undefined){
const err246 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "change"},message:"must have required property '"+"change"+"'"};
if(vErrors === null){
vErrors = [err246];
}
else {
vErrors.push(err246);
}
errors++;
}
if(data122.verdictBefore === undefined){
const err247 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "verdictBefore"},message:"must have required property '"+"verdictBefore"+"'"};
if(vErrors === null){
vErrors = [err247];
}
else {
vErrors.push(err247);
}
errors++;
}
if(data122.verdictNow === undefined){
const err248 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/required",keyword:"required",params:{missingProperty: "verdictNow"},message:"must have required property '"+"verdictNow"+"'"};
if(vErrors === null){
vErrors = [err248];
}
else {
vErrors.push(err248);
}
errors++;
}
if(data122.id !== undefined){
if(typeof data122.id !== "string"){
const err249 = {instancePath:instancePath+"/comparison/rows/" + i13+"/id",schemaPath:"#/properties/comparison/properties/rows/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err249];
}
else {
vErrors.push(err249);
}
errors++;
}
}
if(data122.unit !== undefined){
if(typeof data122.unit !== "string"){
const err250 = {instancePath:instancePath+"/comparison/rows/" + i13+"/unit",schemaPath:"#/properties/comparison/properties/rows/items/properties/unit/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err250];
}
else {
vErrors.push(err250);
}
errors++;
}
}
if(data122.before !== undefined){
let data125 = data122.before;
if((!((typeof data125 == "number") && (isFinite(data125)))) && (data125 !== null)){
const err251 = {instancePath:instancePath+"/comparison/rows/" + i13+"/before",schemaPath:"#/properties/comparison/properties/rows/items/properties/before/type",keyword:"type",params:{type: schema44.properties.comparison.properties.rows.items.properties.before.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err251];
}
else {
vErrors.push(err251);
}
errors++;
}
}
if(data122.now !== undefined){
let data126 = data122.now;
if((!((typeof data126 == "number") && (isFinite(data126)))) && (data126 !== null)){
const err252 = {instancePath:instancePath+"/comparison/rows/" + i13+"/now",schemaPath:"#/properties/comparison/properties/rows/items/properties/now/type",keyword:"type",params:{type: schema44.properties.comparison.properties.rows.items.properties.now.type},message:"must be number,null"};
if(vErrors === null){
vErrors = [err252];
}
else {
vErrors.push(err252);
}
errors++;
}
}
if(data122.change !== undefined){
let data127 = data122.change;
if(typeof data127 !== "string"){
const err253 = {instancePath:instancePath+"/comparison/rows/" + i13+"/change",schemaPath:"#/properties/comparison/properties/rows/items/properties/change/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err253];
}
else {
vErrors.push(err253);
}
errors++;
}
if(!((((data127 === "better") || (data127 === "worse")) || (data127 === "alike")) || (data127 === "unknown"))){
const err254 = {instancePath:instancePath+"/comparison/rows/" + i13+"/change",schemaPath:"#/properties/comparison/properties/rows/items/properties/change/enum",keyword:"enum",params:{allowedValues: schema44.properties.comparison.properties.rows.items.properties.change.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err254];
}
else {
vErrors.push(err254);
}
errors++;
}
}
if(data122.verdictBefore !== undefined){
let data128 = data122.verdictBefore;
if(typeof data128 !== "string"){
const err255 = {instancePath:instancePath+"/comparison/rows/" + i13+"/verdictBefore",schemaPath:"#/definitions/loadVerdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err255];
}
else {
vErrors.push(err255);
}
errors++;
}
if(!(((((data128 === "PASS") || (data128 === "FAIL")) || (data128 === "NOT PROVEN")) || (data128 === "INVALID RUN")) || (data128 === "NOT TESTED"))){
const err256 = {instancePath:instancePath+"/comparison/rows/" + i13+"/verdictBefore",schemaPath:"#/definitions/loadVerdict/enum",keyword:"enum",params:{allowedValues: schema45.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err256];
}
else {
vErrors.push(err256);
}
errors++;
}
}
if(data122.verdictNow !== undefined){
let data129 = data122.verdictNow;
if(typeof data129 !== "string"){
const err257 = {instancePath:instancePath+"/comparison/rows/" + i13+"/verdictNow",schemaPath:"#/definitions/loadVerdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err257];
}
else {
vErrors.push(err257);
}
errors++;
}
if(!(((((data129 === "PASS") || (data129 === "FAIL")) || (data129 === "NOT PROVEN")) || (data129 === "INVALID RUN")) || (data129 === "NOT TESTED"))){
const err258 = {instancePath:instancePath+"/comparison/rows/" + i13+"/verdictNow",schemaPath:"#/definitions/loadVerdict/enum",keyword:"enum",params:{allowedValues: schema45.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err258];
}
else {
vErrors.push(err258);
}
errors++;
}
}
}
else {
const err259 = {instancePath:instancePath+"/comparison/rows/" + i13,schemaPath:"#/properties/comparison/properties/rows/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err259];
}
else {
vErrors.push(err259);
}
errors++;
}
}
}
else {
const err260 = {instancePath:instancePath+"/comparison/rows",schemaPath:"#/properties/comparison/properties/rows/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err260];
}
else {
vErrors.push(err260);
}
errors++;
}
}
}
else {
const err261 = {instancePath:instancePath+"/comparison",schemaPath:"#/properties/comparison/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err261];
}
else {
vErrors.push(err261);
}
errors++;
}
}
if(data.machine !== undefined){
let data130 = data.machine;
if(data130 && typeof data130 == "object" && !Array.isArray(data130)){
if(data130.node === undefined){
const err262 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/required",keyword:"required",params:{missingProperty: "node"},message:"must have required property '"+"node"+"'"};
if(vErrors === null){
vErrors = [err262];
}
else {
vErrors.push(err262);
}
errors++;
}
if(data130.cpus === undefined){
const err263 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/required",keyword:"required",params:{missingProperty: "cpus"},message:"must have required property '"+"cpus"+"'"};
if(vErrors === null){
vErrors = [err263];
}
else {
vErrors.push(err263);
}
errors++;
}
if(data130.cpuModel === undefined){
const err264 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/required",keyword:"required",params:{missingProperty: "cpuModel"},message:"must have required property '"+"cpuModel"+"'"};
if(vErrors === null){
vErrors = [err264];
}
else {
vErrors.push(err264);
}
errors++;
}
if(data130.cpuPercent === undefined){
const err265 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/required",keyword:"required",params:{missingProperty: "cpuPercent"},message:"must have required property '"+"cpuPercent"+"'"};
if(vErrors === null){
vErrors = [err265];
}
else {
vErrors.push(err265);
}
errors++;
}
if(data130.engineVersion === undefined){
const err266 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/required",keyword:"required",params:{missingProperty: "engineVersion"},message:"must have required property '"+"engineVersion"+"'"};
if(vErrors === null){
vErrors = [err266];
}
else {
vErrors.push(err266);
}
errors++;
}
if(data130.node !== undefined){
if(typeof data130.node !== "string"){
const err267 = {instancePath:instancePath+"/machine/node",schemaPath:"#/properties/machine/properties/node/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err267];
}
else {
vErrors.push(err267);
}
errors++;
}
}
if(data130.cpus !== undefined){
let data132 = data130.cpus;
if(!(((typeof data132 == "number") && (!(data132 % 1) && !isNaN(data132))) && (isFinite(data132)))){
const err268 = {instancePath:instancePath+"/machine/cpus",schemaPath:"#/properties/machine/properties/cpus/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err268];
}
else {
vErrors.push(err268);
}
errors++;
}
}
if(data130.cpuModel !== undefined){
if(typeof data130.cpuModel !== "string"){
const err269 = {instancePath:instancePath+"/machine/cpuModel",schemaPath:"#/properties/machine/properties/cpuModel/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err269];
}
else {
vErrors.push(err269);
}
errors++;
}
}
if(data130.cpuPercent !== undefined){
let data134 = data130.cpuPercent;
if(!((typeof data134 == "number") && (isFinite(data134)))){
const err270 = {instancePath:instancePath+"/machine/cpuPercent",schemaPath:"#/properties/machine/properties/cpuPercent/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err270];
}
else {
vErrors.push(err270);
}
errors++;
}
}
if(data130.engineVersion !== undefined){
if(typeof data130.engineVersion !== "string"){
const err271 = {instancePath:instancePath+"/machine/engineVersion",schemaPath:"#/properties/machine/properties/engineVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err271];
}
else {
vErrors.push(err271);
}
errors++;
}
}
}
else {
const err272 = {instancePath:instancePath+"/machine",schemaPath:"#/properties/machine/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err272];
}
else {
vErrors.push(err272);
}
errors++;
}
}
if(data.notes !== undefined){
let data136 = data.notes;
if(Array.isArray(data136)){
const len14 = data136.length;
for(let i14=0; i14<len14; i14++){
if(typeof data136[i14] !== "string"){
const err273 = {instancePath:instancePath+"/notes/" + i14,schemaPath:"#/properties/notes/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err273];
}
else {
vErrors.push(err273);
}
errors++;
}
}
}
else {
const err274 = {instancePath:instancePath+"/notes",schemaPath:"#/properties/notes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err274];
}
else {
vErrors.push(err274);
}
errors++;
}
}
}
else {
const err275 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err275];
}
else {
vErrors.push(err275);
}
errors++;
}
validate29.errors = vErrors;
return errors === 0;
}

export const OutcomeSummary = validate34;
const schema57 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"outcome-summary.schema.json","title":"OutcomeSummary","$comment":"spec 2.6","description":"How the evals of a session came out; always of the whole session.","type":"object","required":["total_evaluations","passed_count","failed_count","pass_rate"],"properties":{"total_evaluations":{"type":"integer","minimum":0,"description":"Passed and failed; an eval that errored is neither."},"passed_count":{"type":"integer","minimum":0},"failed_count":{"type":"integer","minimum":0},"pass_rate":{"type":"number","minimum":0,"maximum":1,"description":"Fraction, 0 to 1; 0 without outcomes."}},"examples":[{"total_evaluations":4,"passed_count":3,"failed_count":1,"pass_rate":0.75}],"x-near-misses":[{"breaks":"/pass_rate","value":{"total_evaluations":4,"passed_count":3,"failed_count":1,"pass_rate":75}}]};

function validate34(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="outcome-summary.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.total_evaluations === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "total_evaluations"},message:"must have required property '"+"total_evaluations"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.passed_count === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "passed_count"},message:"must have required property '"+"passed_count"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.failed_count === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "failed_count"},message:"must have required property '"+"failed_count"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.pass_rate === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "pass_rate"},message:"must have required property '"+"pass_rate"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.total_evaluations !== undefined){
let data0 = data.total_evaluations;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/total_evaluations",schemaPath:"#/properties/total_evaluations/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err5 = {instancePath:instancePath+"/total_evaluations",schemaPath:"#/properties/total_evaluations/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
if(data.passed_count !== undefined){
let data1 = data.passed_count;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err6 = {instancePath:instancePath+"/passed_count",schemaPath:"#/properties/passed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/passed_count",schemaPath:"#/properties/passed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.failed_count !== undefined){
let data2 = data.failed_count;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err8 = {instancePath:instancePath+"/failed_count",schemaPath:"#/properties/failed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/failed_count",schemaPath:"#/properties/failed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.pass_rate !== undefined){
let data3 = data.pass_rate;
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 1 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err11 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate34.errors = vErrors;
return errors === 0;
}

export const Persona = validate35;
const schema58 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"persona.schema.json","title":"Persona","$comment":"ours; *.persona.yaml and /__admin/personas; its name is sent: spec 2.7, 2.9","description":"A persona: who a simulated user is, whatever they want. What they want stands in a scenario.","x-extension":true,"type":"object","required":["id","name"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"What scenarios name."},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Shown as persona in results (spec 2.4), and sent as metadata.persona."},"characteristics":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"Who they are and how they speak, in words; what a language model that plays the user goes by."},"language":{"type":"string","pattern":"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$","description":"Language tag, e.g. en or de-CH; en when left out."},"verbosity":{"type":"string","enum":["minimal","standard","chatty"],"description":"How much they say; standard when left out."},"patience_turns":{"type":"integer","minimum":1,"maximum":1000,"description":"Replies in a row that bring them no further, after which they give up (end reason user_stop); they never do when left out."},"tags":{"type":"array","maxItems":50,"description":"Words to pick personas by.","items":{"type":"string","pattern":"^[^\\r\\n]{1,100}$"}},"voice":{"title":"PersonaVoice","type":"object","description":"How they sound on the voice channel.","required":[],"additionalProperties":false,"properties":{"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Name of a voice, as the speech synthesis knows it."},"speed":{"type":"number","minimum":0.5,"maximum":2,"description":"Share of the usual speed of speech, 0.5 to 2; 1 when left out."},"interruptions":{"type":"string","enum":["none","rare","frequent"],"description":"How often they speak into the agent's turn; none when left out."}}}},"examples":[{"id":"impatient","name":"Impatient","characteristics":"In a hurry, short sentences, wants a date and no small talk.","language":"en","verbosity":"minimal","patience_turns":3,"tags":["stress"],"voice":{"speed":1.2,"interruptions":"rare"}},{"id":"plain","name":"Plain"}],"x-near-misses":[{"breaks":"/name","value":{"id":"impatient"}},{"breaks":"/id","value":{"id":"very impatient","name":"Impatient"}},{"breaks":"/patience_turns","value":{"id":"a","name":"A","patience_turns":0}},{"breaks":"/voice/speed","value":{"id":"a","name":"A","voice":{"speed":120}}},{"breaks":"/language","value":{"id":"a","name":"A","language":"English, please"}},{"breaks":"/goal","value":{"id":"a","name":"A","goal":"Know when the parcel arrives."}}]};
const pattern8 = new RegExp("^[A-Za-z0-9_.-]{1,128}$", "u");
const pattern10 = new RegExp("^[\\s\\S]{1,10000}$", "u");
const pattern11 = new RegExp("^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$", "u");

function validate35(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="persona.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((((((key0 === "id") || (key0 === "name")) || (key0 === "characteristics")) || (key0 === "language")) || (key0 === "verbosity")) || (key0 === "patience_turns")) || (key0 === "tags")) || (key0 === "voice"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(!pattern8.test(data0)){
const err3 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.name !== undefined){
let data1 = data.name;
if(typeof data1 === "string"){
if(!pattern3.test(data1)){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.characteristics !== undefined){
let data2 = data.characteristics;
if(typeof data2 === "string"){
if(!pattern10.test(data2)){
const err7 = {instancePath:instancePath+"/characteristics",schemaPath:"#/properties/characteristics/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/characteristics",schemaPath:"#/properties/characteristics/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.language !== undefined){
let data3 = data.language;
if(typeof data3 === "string"){
if(!pattern11.test(data3)){
const err9 = {instancePath:instancePath+"/language",schemaPath:"#/properties/language/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$"},message:"must match pattern \""+"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$"+"\""};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/language",schemaPath:"#/properties/language/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.verbosity !== undefined){
let data4 = data.verbosity;
if(typeof data4 !== "string"){
const err11 = {instancePath:instancePath+"/verbosity",schemaPath:"#/properties/verbosity/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!(((data4 === "minimal") || (data4 === "standard")) || (data4 === "chatty"))){
const err12 = {instancePath:instancePath+"/verbosity",schemaPath:"#/properties/verbosity/enum",keyword:"enum",params:{allowedValues: schema58.properties.verbosity.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.patience_turns !== undefined){
let data5 = data.patience_turns;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err13 = {instancePath:instancePath+"/patience_turns",schemaPath:"#/properties/patience_turns/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 1000 || isNaN(data5)){
const err14 = {instancePath:instancePath+"/patience_turns",schemaPath:"#/properties/patience_turns/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data5 < 1 || isNaN(data5)){
const err15 = {instancePath:instancePath+"/patience_turns",schemaPath:"#/properties/patience_turns/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data.tags !== undefined){
let data6 = data.tags;
if(Array.isArray(data6)){
if(data6.length > 50){
const err16 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/maxItems",keyword:"maxItems",params:{limit: 50},message:"must NOT have more than 50 items"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(typeof data7 === "string"){
if(!pattern4.test(data7)){
const err17 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
else {
const err19 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.voice !== undefined){
let data8 = data.voice;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
for(const key1 in data8){
if(!(((key1 === "name") || (key1 === "speed")) || (key1 === "interruptions"))){
const err20 = {instancePath:instancePath+"/voice",schemaPath:"#/properties/voice/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data8.name !== undefined){
let data9 = data8.name;
if(typeof data9 === "string"){
if(!pattern3.test(data9)){
const err21 = {instancePath:instancePath+"/voice/name",schemaPath:"#/properties/voice/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/voice/name",schemaPath:"#/properties/voice/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data8.speed !== undefined){
let data10 = data8.speed;
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 2 || isNaN(data10)){
const err23 = {instancePath:instancePath+"/voice/speed",schemaPath:"#/properties/voice/properties/speed/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2},message:"must be <= 2"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data10 < 0.5 || isNaN(data10)){
const err24 = {instancePath:instancePath+"/voice/speed",schemaPath:"#/properties/voice/properties/speed/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.5},message:"must be >= 0.5"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/voice/speed",schemaPath:"#/properties/voice/properties/speed/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data8.interruptions !== undefined){
let data11 = data8.interruptions;
if(typeof data11 !== "string"){
const err26 = {instancePath:instancePath+"/voice/interruptions",schemaPath:"#/properties/voice/properties/interruptions/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(!(((data11 === "none") || (data11 === "rare")) || (data11 === "frequent"))){
const err27 = {instancePath:instancePath+"/voice/interruptions",schemaPath:"#/properties/voice/properties/interruptions/enum",keyword:"enum",params:{allowedValues: schema58.properties.voice.properties.interruptions.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/voice",schemaPath:"#/properties/voice/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
validate35.errors = vErrors;
return errors === 0;
}

export const ProductionSessionPage = validate36;
const schema59 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"production-session-page.schema.json","title":"ProductionSessionPage","$comment":"spec 2.6, 4.4","description":"A page of sessions with their outcomes, newest first.","type":"object","required":["items","total","skip","limit"],"properties":{"items":{"type":"array","items":{"$ref":"production-session.schema.json"}},"total":{"type":"integer","minimum":0,"description":"Sessions that match the filters, on all pages."},"skip":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":0,"maximum":500}},"examples":[{"items":[{"url":"http://127.0.0.1:9090/production-eval/run-1?sessionId=ses-2","run":"Live traces 2026-11-20","source_session_id":"conv-1","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]}],"total":1,"skip":0,"limit":50},{"items":[],"total":0,"skip":0,"limit":50}],"x-near-misses":[{"breaks":"/total","value":{"items":[],"skip":0,"limit":50}},{"breaks":"/limit","value":{"items":[],"total":0,"skip":0,"limit":501}}]};
const schema60 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"production-session.schema.json","title":"ProductionSession","$comment":"spec 2.5","description":"An item of GET /api/prod-evaluations/sessions/. Has no agent, scenario or persona: the keys are absent, not null.","type":"object","required":["url","run","source_session_id","status","started_at","ended_at","outcome_summary","eval_outcomes"],"properties":{"url":{"type":"string","description":"Deep link {app_url}/production-eval/ID?sessionId=ID."},"run":{"type":"string","description":"Name of the evaluation run."},"source_session_id":{"type":"string","description":"The caller's own id: of the transcript, or gen_ai.conversation.id."},"status":{"type":"string","description":"Session status, e.g. completed."},"started_at":{"type":"string","format":"iso8601"},"ended_at":{"type":"string","format":"iso8601"},"outcome_summary":{"$ref":"outcome-summary.schema.json"},"eval_outcomes":{"type":"array","items":{"$ref":"eval-outcome.schema.json"}},"agent":false,"scenario":false,"persona":false,"traces":{"type":"array","description":"Only with include_traces=true.","items":{"title":"ProductionTurn","type":"object","required":["session_sequence","user_input","agent_response"],"properties":{"session_sequence":{"type":"integer","minimum":1},"user_input":{"type":"string"},"agent_response":{"type":"string"}}}}},"examples":[{"url":"http://127.0.0.1:9090/production-eval/run-1?sessionId=ses-2","run":"Live traces 2026-11-20","source_session_id":"conv-1","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]},{"url":"http://127.0.0.1:9090/production-eval/run-1?sessionId=ses-2","run":"Live traces 2026-11-20","source_session_id":"conv-1","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}],"traces":[{"session_sequence":1,"user_input":"Where is my order?","agent_response":"On its way."}]}],"x-near-misses":[{"breaks":"/agent","value":{"url":"http://127.0.0.1:9090/production-eval/run-1?sessionId=ses-2","run":"Live traces 2026-11-20","source_session_id":"conv-1","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}],"agent":null}},{"breaks":"/source_session_id","value":{"url":"http://127.0.0.1:9090/production-eval/run-1?sessionId=ses-2","run":"Live traces 2026-11-20","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]}}]};

function validate37(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="production-session.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.url === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "url"},message:"must have required property '"+"url"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.run === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "run"},message:"must have required property '"+"run"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.source_session_id === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "source_session_id"},message:"must have required property '"+"source_session_id"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.status === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.started_at === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "started_at"},message:"must have required property '"+"started_at"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.ended_at === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ended_at"},message:"must have required property '"+"ended_at"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.outcome_summary === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "outcome_summary"},message:"must have required property '"+"outcome_summary"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.eval_outcomes === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "eval_outcomes"},message:"must have required property '"+"eval_outcomes"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.url !== undefined){
if(typeof data.url !== "string"){
const err8 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.run !== undefined){
if(typeof data.run !== "string"){
const err9 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.source_session_id !== undefined){
if(typeof data.source_session_id !== "string"){
const err10 = {instancePath:instancePath+"/source_session_id",schemaPath:"#/properties/source_session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.status !== undefined){
if(typeof data.status !== "string"){
const err11 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.started_at !== undefined){
let data4 = data.started_at;
if(typeof data4 === "string"){
if(!(formats0.test(data4))){
const err12 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.ended_at !== undefined){
let data5 = data.ended_at;
if(typeof data5 === "string"){
if(!(formats0.test(data5))){
const err14 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.outcome_summary !== undefined){
let data6 = data.outcome_summary;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.total_evaluations === undefined){
const err16 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "total_evaluations"},message:"must have required property '"+"total_evaluations"+"'"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data6.passed_count === undefined){
const err17 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "passed_count"},message:"must have required property '"+"passed_count"+"'"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(data6.failed_count === undefined){
const err18 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "failed_count"},message:"must have required property '"+"failed_count"+"'"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(data6.pass_rate === undefined){
const err19 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "pass_rate"},message:"must have required property '"+"pass_rate"+"'"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(data6.total_evaluations !== undefined){
let data7 = data6.total_evaluations;
if(!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))){
const err20 = {instancePath:instancePath+"/outcome_summary/total_evaluations",schemaPath:"outcome-summary.schema.json/properties/total_evaluations/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err21 = {instancePath:instancePath+"/outcome_summary/total_evaluations",schemaPath:"outcome-summary.schema.json/properties/total_evaluations/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data6.passed_count !== undefined){
let data8 = data6.passed_count;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
const err22 = {instancePath:instancePath+"/outcome_summary/passed_count",schemaPath:"outcome-summary.schema.json/properties/passed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 < 0 || isNaN(data8)){
const err23 = {instancePath:instancePath+"/outcome_summary/passed_count",schemaPath:"outcome-summary.schema.json/properties/passed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
if(data6.failed_count !== undefined){
let data9 = data6.failed_count;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err24 = {instancePath:instancePath+"/outcome_summary/failed_count",schemaPath:"outcome-summary.schema.json/properties/failed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err25 = {instancePath:instancePath+"/outcome_summary/failed_count",schemaPath:"outcome-summary.schema.json/properties/failed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
if(data6.pass_rate !== undefined){
let data10 = data6.pass_rate;
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 1 || isNaN(data10)){
const err26 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(data10 < 0 || isNaN(data10)){
const err27 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.eval_outcomes !== undefined){
let data11 = data.eval_outcomes;
if(Array.isArray(data11)){
const len0 = data11.length;
for(let i0=0; i0<len0; i0++){
let data12 = data11[i0];
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
if(data12.eval_name === undefined){
const err30 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_name"},message:"must have required property '"+"eval_name"+"'"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(data12.eval_category === undefined){
const err31 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_category"},message:"must have required property '"+"eval_category"+"'"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
if(data12.eval_type === undefined){
const err32 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_type"},message:"must have required property '"+"eval_type"+"'"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(data12.outcome === undefined){
const err33 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(data12.reasoning === undefined){
const err34 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "reasoning"},message:"must have required property '"+"reasoning"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data12.eval_name !== undefined){
if(typeof data12.eval_name !== "string"){
const err35 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_name",schemaPath:"eval-outcome.schema.json/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data12.eval_category !== undefined){
if(typeof data12.eval_category !== "string"){
const err36 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_category",schemaPath:"eval-outcome.schema.json/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data12.eval_type !== undefined){
if(typeof data12.eval_type !== "string"){
const err37 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_type",schemaPath:"eval-outcome.schema.json/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data12.outcome !== undefined){
if(typeof data12.outcome !== "string"){
const err38 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/outcome",schemaPath:"eval-outcome.schema.json/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data12.reasoning !== undefined){
if(typeof data12.reasoning !== "string"){
const err39 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/reasoning",schemaPath:"eval-outcome.schema.json/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/eval_outcomes",schemaPath:"#/properties/eval_outcomes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data.agent !== undefined){
const err42 = {instancePath:instancePath+"/agent",schemaPath:"#/properties/agent/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
if(data.scenario !== undefined){
const err43 = {instancePath:instancePath+"/scenario",schemaPath:"#/properties/scenario/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(data.persona !== undefined){
const err44 = {instancePath:instancePath+"/persona",schemaPath:"#/properties/persona/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
if(data.traces !== undefined){
let data21 = data.traces;
if(Array.isArray(data21)){
const len1 = data21.length;
for(let i1=0; i1<len1; i1++){
let data22 = data21[i1];
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
if(data22.session_sequence === undefined){
const err45 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "session_sequence"},message:"must have required property '"+"session_sequence"+"'"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
if(data22.user_input === undefined){
const err46 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if(data22.agent_response === undefined){
const err47 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
if(data22.session_sequence !== undefined){
let data23 = data22.session_sequence;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
const err48 = {instancePath:instancePath+"/traces/" + i1+"/session_sequence",schemaPath:"#/properties/traces/items/properties/session_sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 < 1 || isNaN(data23)){
const err49 = {instancePath:instancePath+"/traces/" + i1+"/session_sequence",schemaPath:"#/properties/traces/items/properties/session_sequence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
}
if(data22.user_input !== undefined){
if(typeof data22.user_input !== "string"){
const err50 = {instancePath:instancePath+"/traces/" + i1+"/user_input",schemaPath:"#/properties/traces/items/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data22.agent_response !== undefined){
if(typeof data22.agent_response !== "string"){
const err51 = {instancePath:instancePath+"/traces/" + i1+"/agent_response",schemaPath:"#/properties/traces/items/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
else {
const err52 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
}
else {
const err53 = {instancePath:instancePath+"/traces",schemaPath:"#/properties/traces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
}
else {
const err54 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
validate37.errors = vErrors;
return errors === 0;
}


function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="production-session-page.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.items === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "items"},message:"must have required property '"+"items"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.total === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "total"},message:"must have required property '"+"total"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.skip === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "skip"},message:"must have required property '"+"skip"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.limit === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "limit"},message:"must have required property '"+"limit"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.items !== undefined){
let data0 = data.items;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate37(data0[i0], {instancePath:instancePath+"/items/" + i0,parentData:data0,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath:instancePath+"/items",schemaPath:"#/properties/items/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.total !== undefined){
let data2 = data.total;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err5 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.skip !== undefined){
let data3 = data.skip;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err7 = {instancePath:instancePath+"/skip",schemaPath:"#/properties/skip/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/skip",schemaPath:"#/properties/skip/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
if(data.limit !== undefined){
let data4 = data.limit;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err9 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 500 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 500},message:"must be <= 500"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err11 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate36.errors = vErrors;
return errors === 0;
}

export const ProductionSession = validate37;

export const ResetRequest = validate39;
const schema63 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"reset-request.schema.json","title":"ResetRequest","$comment":"our extension; POST /__admin/reset of the service","description":"Forgets everything of an owner but its keys; then, where asked, fills it with the seed again.","x-extension":true,"type":"object","required":["to"],"additionalProperties":false,"properties":{"to":{"type":"string","enum":["seed","empty"]}},"examples":[{"to":"seed"},{"to":"empty"}],"x-near-misses":[{"breaks":"/to","value":{}},{"breaks":"/to","value":{"to":"start"}}]};

function validate39(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="reset-request.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.to === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "to")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.to !== undefined){
let data0 = data.to;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((data0 === "seed") || (data0 === "empty"))){
const err3 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/enum",keyword:"enum",params:{allowedValues: schema63.properties.to.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate39.errors = vErrors;
return errors === 0;
}

export const RunRecord = validate40;
const schema64 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"run-record.schema.json","title":"RunRecord","$comment":"ours; the first line of a recording","description":"What a check run was asked to do. The first line of its transcript.","type":"object","required":["record","kitVersion","suite","target","seed","startedAt","areas","allowHttp","keyGiven","concurrency"],"additionalProperties":false,"properties":{"record":{"type":"string","const":"run"},"kitVersion":{"type":"string"},"suite":{"description":"Name of the set of requirements.","type":"string"},"target":{"description":"Base URL of the sandbox, or of the service.","type":"string"},"seed":{"type":"string"},"startedAt":{"type":"string","format":"iso8601"},"areas":{"type":"array","items":{"title":"Area","type":"string","enum":["chat","health","users","voice","service"]}},"allowHttp":{"description":"Plain HTTP is waived.","type":"boolean"},"keyGiven":{"description":"A key was sent.","type":"boolean"},"intrusive":{"description":"What is large, many or slow was sent, and the clock of the control API moved; only of a run of the service.","type":"boolean"},"apiKeyHeader":{"description":"Name of the header that held the service's key, where it is not x-service-api-key.","type":"string"},"voiceUrl":{"description":"Address of the voice WebSocket; of a run that has the area voice.","type":"string"},"interrupted":{"description":"Somebody stopped it before its end.","type":"boolean"},"concurrency":{"description":"Requests in flight at most.","type":"integer","minimum":1}},"examples":[{"record":"run","kitVersion":"0.1.0","suite":"2026-11","target":"http://127.0.0.1:8080","seed":"3f9a1c07de","startedAt":"2026-11-20T09:30:00.000Z","areas":["chat","health","users"],"allowHttp":false,"keyGiven":true,"concurrency":4}],"x-near-misses":[{"breaks":"/target","value":{"record":"run","seed":"1"}}]};

function validate40(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="run-record.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.record === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "record"},message:"must have required property '"+"record"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.kitVersion === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kitVersion"},message:"must have required property '"+"kitVersion"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.suite === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "suite"},message:"must have required property '"+"suite"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.target === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "target"},message:"must have required property '"+"target"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.seed === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "seed"},message:"must have required property '"+"seed"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.startedAt === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "startedAt"},message:"must have required property '"+"startedAt"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.areas === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "areas"},message:"must have required property '"+"areas"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.allowHttp === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "allowHttp"},message:"must have required property '"+"allowHttp"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.keyGiven === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "keyGiven"},message:"must have required property '"+"keyGiven"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data.concurrency === undefined){
const err9 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "concurrency"},message:"must have required property '"+"concurrency"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema64.properties, key0))){
const err10 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.record !== undefined){
let data0 = data.record;
if(typeof data0 !== "string"){
const err11 = {instancePath:instancePath+"/record",schemaPath:"#/properties/record/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if("run" !== data0){
const err12 = {instancePath:instancePath+"/record",schemaPath:"#/properties/record/const",keyword:"const",params:{allowedValue: "run"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.kitVersion !== undefined){
if(typeof data.kitVersion !== "string"){
const err13 = {instancePath:instancePath+"/kitVersion",schemaPath:"#/properties/kitVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.suite !== undefined){
if(typeof data.suite !== "string"){
const err14 = {instancePath:instancePath+"/suite",schemaPath:"#/properties/suite/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.target !== undefined){
if(typeof data.target !== "string"){
const err15 = {instancePath:instancePath+"/target",schemaPath:"#/properties/target/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.seed !== undefined){
if(typeof data.seed !== "string"){
const err16 = {instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.startedAt !== undefined){
let data5 = data.startedAt;
if(typeof data5 === "string"){
if(!(formats0.test(data5))){
const err17 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/startedAt",schemaPath:"#/properties/startedAt/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.areas !== undefined){
let data6 = data.areas;
if(Array.isArray(data6)){
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(typeof data7 !== "string"){
const err19 = {instancePath:instancePath+"/areas/" + i0,schemaPath:"#/properties/areas/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(!(((((data7 === "chat") || (data7 === "health")) || (data7 === "users")) || (data7 === "voice")) || (data7 === "service"))){
const err20 = {instancePath:instancePath+"/areas/" + i0,schemaPath:"#/properties/areas/items/enum",keyword:"enum",params:{allowedValues: schema64.properties.areas.items.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/areas",schemaPath:"#/properties/areas/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.allowHttp !== undefined){
if(typeof data.allowHttp !== "boolean"){
const err22 = {instancePath:instancePath+"/allowHttp",schemaPath:"#/properties/allowHttp/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.keyGiven !== undefined){
if(typeof data.keyGiven !== "boolean"){
const err23 = {instancePath:instancePath+"/keyGiven",schemaPath:"#/properties/keyGiven/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.intrusive !== undefined){
if(typeof data.intrusive !== "boolean"){
const err24 = {instancePath:instancePath+"/intrusive",schemaPath:"#/properties/intrusive/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.apiKeyHeader !== undefined){
if(typeof data.apiKeyHeader !== "string"){
const err25 = {instancePath:instancePath+"/apiKeyHeader",schemaPath:"#/properties/apiKeyHeader/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.voiceUrl !== undefined){
if(typeof data.voiceUrl !== "string"){
const err26 = {instancePath:instancePath+"/voiceUrl",schemaPath:"#/properties/voiceUrl/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.interrupted !== undefined){
if(typeof data.interrupted !== "boolean"){
const err27 = {instancePath:instancePath+"/interrupted",schemaPath:"#/properties/interrupted/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.concurrency !== undefined){
let data14 = data.concurrency;
if(!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))){
const err28 = {instancePath:instancePath+"/concurrency",schemaPath:"#/properties/concurrency/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 < 1 || isNaN(data14)){
const err29 = {instancePath:instancePath+"/concurrency",schemaPath:"#/properties/concurrency/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate40.errors = vErrors;
return errors === 0;
}

export const SandboxError = validate41;
const schema65 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"sandbox-error.schema.json","title":"SandboxError","$comment":"spec 7","description":"What the sandbox answers when it refuses a request or fails. The pairs of type and code that the interface names are listed in src/contract/errors.ts.","type":"object","required":["error"],"properties":{"error":{"title":"SandboxErrorDetail","type":"object","required":["message","type","code"],"properties":{"message":{"description":"For a person.","type":"string"},"type":{"description":"The family of the error.","type":"string"},"code":{"description":"The error itself.","type":"string"}}}},"examples":[{"error":{"message":"messages is missing","type":"invalid_request_error","code":"bad_request"}},{"error":{"message":"a user with this id exists","type":"duplicate_user_error","code":"user_exists"}}],"x-near-misses":[{"breaks":"/error","value":{"message":"messages is missing"}},{"breaks":"/error","value":{"error":"messages is missing"}},{"breaks":"/error/code","value":{"error":{"message":"wrong","type":"invalid_request_error"}}},{"breaks":"/error/code","value":{"error":{"message":"wrong","type":"invalid_request_error","code":400}}}]};

function validate41(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="sandbox-error.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.error === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "error"},message:"must have required property '"+"error"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.error !== undefined){
let data0 = data.error;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(data0.message === undefined){
const err1 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0.type === undefined){
const err2 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0.code === undefined){
const err3 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "code"},message:"must have required property '"+"code"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0.message !== undefined){
if(typeof data0.message !== "string"){
const err4 = {instancePath:instancePath+"/error/message",schemaPath:"#/properties/error/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data0.type !== undefined){
if(typeof data0.type !== "string"){
const err5 = {instancePath:instancePath+"/error/type",schemaPath:"#/properties/error/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data0.code !== undefined){
if(typeof data0.code !== "string"){
const err6 = {instancePath:instancePath+"/error/code",schemaPath:"#/properties/error/properties/code/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate41.errors = vErrors;
return errors === 0;
}

export const Scenario = validate42;
const schema66 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"scenario.schema.json","title":"Scenario","$comment":"ours; *.scenario.yaml and /__admin/scenarios; what of it is sent: spec 2.7, 2.9","description":"A scenario: what a simulated user wants and says, and how the conversation is scored. Who the user is stands in a persona.","x-extension":true,"type":"object","required":["id","name","user"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Sent as metadata.scenario_id."},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Shown as scenario in results (spec 2.4)."},"category":{"type":"string","pattern":"^[^\\r\\n]{1,100}$","description":"Free text to pick and group by, e.g. happy_path, edge_case, adversarial; general when left out."},"tags":{"type":"array","maxItems":50,"description":"Words to pick scenarios by.","items":{"type":"string","pattern":"^[^\\r\\n]{1,100}$"}},"channel":{"type":"string","enum":["chat","voice"],"description":"How the user talks to the sandbox; chat when left out."},"persona":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Id of a persona; a plain, polite customer when left out."},"initial_messages":{"type":"array","maxItems":1000,"description":"Messages that stand before the user's first line, oldest first; sent in every chat request (spec 2.7).","items":{"title":"ScenarioMessage","type":"object","required":["role","content"],"additionalProperties":false,"properties":{"role":{"type":"string","enum":["system","user","assistant"],"description":"Who speaks."},"content":{"type":"string","description":"What is said."}}}},"seed":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"All that is left to chance follows from it; the run's own seed when left out."},"samples":{"type":"integer","minimum":1,"maximum":1000,"description":"How many sessions of it a run has; 1 when left out."},"pass_rate":{"type":"number","minimum":0,"maximum":1,"description":"Share of the samples, 0 to 1, that must pass; 1 when left out."},"evals":{"type":"array","maxItems":100,"description":"Ids of the evals that score each session.","items":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$"}},"user":{"title":"ScenarioUser","type":"object","description":"What the simulated user says and wants.","required":[],"additionalProperties":false,"properties":{"mode":{"type":"string","enum":["scripted","graph","llm"],"description":"scripted: opening, then the lines of steps in order, whatever the agent says. graph: opening, then reactions, facts and steps as the agent's replies call for them; deterministic. llm: a language model plays the user. graph when left out."},"opening":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The user's first line; wanted but in mode llm."},"goal":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"What the user wants, in words; wanted in mode llm, shown beside results in every mode."},"speaks_first":{"type":"boolean","description":"Whether the user opens the conversation; false: the agent does, and opening answers it. True when left out."},"facts":{"type":"array","maxItems":100,"description":"What the user knows and tells only when asked.","items":{"title":"ScenarioFact","type":"object","required":["name","value"],"additionalProperties":false,"properties":{"name":{"type":"string","pattern":"^[^\\r\\n]{1,100}$","description":"What it is, e.g. order number. The agent asks for it by these words, whatever the case, unless asked_by has others."},"value":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"Told when the agent asks, and not before."},"asked_by":{"type":"array","minItems":1,"maxItems":100,"description":"Words by which the agent asks for it, whatever the case; one of them is enough.","items":{"type":"string","pattern":"^[^\\r\\n]{1,100}$"}},"say":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The user's line, in which {value} stands for the value; the value alone when left out."}}}},"steps":{"type":"array","maxItems":1000,"description":"What the user says in turn. After the last one the user is done (end reason goal_achieved).","items":{"title":"ScenarioStep","type":"object","required":["say"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$","description":"Names the step for next."},"when":{"$ref":"#/definitions/condition"},"say":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The user's line, once when holds; right away when when is left out."},"otherwise":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The user's line as long as when does not hold; the user repeats the last line when left out."},"next":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$","description":"Id of the step that follows; the one below when left out."},"reason":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Why the user says it; shown as user_reason."}}}},"reactions":{"type":"array","maxItems":100,"description":"What the user says to a reply of a certain kind, before steps go on; the first that fits.","items":{"title":"ScenarioReaction","type":"object","required":["when","say"],"additionalProperties":false,"properties":{"when":{"$ref":"#/definitions/condition"},"say":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The user's line."},"times":{"type":"integer","minimum":1,"maximum":1000,"description":"How often in a session it may be said; once when left out."},"stop":{"type":"boolean","description":"Whether the user ends the conversation with it (end reason user_stop); false when left out."},"reason":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Why the user says it; shown as user_reason."}}}},"stop_when":{"type":"array","maxItems":100,"description":"The user is done (end reason goal_achieved) when a reply meets one of these.","items":{"$ref":"#/definitions/condition"}}},"allOf":[{"if":{"properties":{"mode":{"const":"llm"}},"required":["mode"]},"then":{"required":["goal"],"properties":{"goal":{"type":"string"}}},"else":{"required":["opening"],"properties":{"opening":{"type":"string"}}}},{"if":{"properties":{"mode":{"const":"scripted"}},"required":["mode"]},"then":{"properties":{"steps":{"type":"array","items":{"type":"object","properties":{"when":false,"otherwise":false,"next":false}}},"reactions":false,"facts":false}}}]},"metadata":{"title":"ScenarioContext","type":"object","description":"Sent as it is, as metadata of every chat request (spec 2.7), beside scenario_id and persona.","properties":{"time_of_day":{"type":"string","description":"e.g. evening"}}},"profile":{"title":"ScenarioProfile","type":"object","description":"Sent as profile of POST /users (spec 2.9).","required":[],"additionalProperties":false,"properties":{"name":{"type":"string","description":"Full name."},"email":{"type":"string","description":"e.g. ada@example.com"},"tier":{"type":"string","description":"e.g. gold"},"location":{"type":"string","description":"e.g. Zurich"}}},"preferences":{"type":"object","description":"Sent as metadata.preferences of POST /users (spec 2.9)."},"history":{"type":"object","description":"Sent as metadata.history of POST /users (spec 2.9)."},"limits":{"title":"ScenarioLimits","type":"object","description":"Where a session ends if it does not end before.","required":[],"additionalProperties":false,"properties":{"max_turns":{"type":"integer","minimum":1,"maximum":1000,"description":"Turns, each a line of the user and the reply; 10 when left out."},"turn_timeout_ms":{"type":"integer","minimum":1,"maximum":600000,"description":"Milliseconds that one reply may take; 30000 when left out."},"max_duration_ms":{"type":"integer","minimum":1,"maximum":86400000,"description":"Milliseconds that the session may take in all; 600000 when left out."}}}},"definitions":{"condition":{"title":"ReplyCondition","type":"object","description":"Holds when all that it names are true of the agent's last reply.","required":[],"additionalProperties":false,"properties":{"contains":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The reply contains it, whatever the case."},"contains_any":{"type":"array","minItems":1,"maxItems":100,"description":"The reply contains one of these, whatever the case.","items":{"type":"string","pattern":"^[\\s\\S]{1,10000}$"}},"lacks":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The reply does not contain it, whatever the case."},"matches":{"type":"string","pattern":"^[\\s\\S]{1,1000}$","description":"A regular expression of JavaScript that the reply matches somewhere, whatever the case."},"tool_called":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Name of a tool that the agent called for the reply."},"turn":{"type":"integer","minimum":1,"maximum":1000,"description":"The reply is that of this turn, 1 for the first."}},"minProperties":1}},"examples":[{"id":"late-parcel","name":"Asks after a late parcel","category":"happy_path","tags":["orders"],"persona":"impatient","evals":["order-found"],"user":{"opening":"Where is my parcel?","goal":"Know when the parcel arrives.","facts":[{"name":"order number","value":"A-1001","asked_by":["order number","which order"],"say":"It is {value}."}],"steps":[{"when":{"contains_any":["on its way","shipped"]},"say":"When does it arrive?","otherwise":"I only want to know where it is.","reason":"wants a date"},{"say":"Thank you, that is all."}],"reactions":[{"when":{"contains":"refund"},"say":"I want no refund, I want the parcel."}],"stop_when":[{"contains":"anything else"}]},"metadata":{"time_of_day":"evening","stress_level":4},"profile":{"name":"Ada Example","tier":"gold"},"preferences":{"language":"en"},"history":{"orders":3},"limits":{"max_turns":6,"turn_timeout_ms":5000}},{"id":"hours","name":"Asks for opening hours","samples":3,"pass_rate":0.66,"user":{"mode":"scripted","opening":"Hello","steps":[{"say":"When do you open?"}]}},{"id":"angry-return","name":"Returns a broken kettle","channel":"voice","seed":"kettle-1","initial_messages":[{"role":"system","content":"The customer has called before."}],"user":{"mode":"llm","goal":"Return the kettle and be paid back.","speaks_first":false},"limits":{"max_duration_ms":120000}}],"x-near-misses":[{"breaks":"/user","value":{"id":"a","name":"A"}},{"breaks":"/user/opening","value":{"id":"a","name":"A","user":{"steps":[{"say":"Hello"}]}}},{"breaks":"/user/goal","value":{"id":"a","name":"A","user":{"mode":"llm","opening":"Hello"}}},{"breaks":"/user/steps/0/when","value":{"id":"a","name":"A","user":{"mode":"scripted","opening":"Hello","steps":[{"say":"Bye","when":{"contains":"x"}}]}}},{"breaks":"/user/facts","value":{"id":"a","name":"A","user":{"opening":"Hello","facts":{"order":"A-1001"}}}},{"breaks":"/user/stop_when/0","value":{"id":"a","name":"A","user":{"opening":"Hello","stop_when":[{}]}}},{"breaks":"/limits/timeout_s","value":{"id":"a","name":"A","user":{"opening":"Hello"},"limits":{"timeout_s":5}}},{"breaks":"/pass_rate","value":{"id":"a","name":"A","user":{"opening":"Hello"},"pass_rate":95}},{"breaks":"/channel","value":{"id":"a","name":"A","user":{"opening":"Hello"},"channel":"both"}}]};
const schema67 = {"title":"ReplyCondition","type":"object","description":"Holds when all that it names are true of the agent's last reply.","required":[],"additionalProperties":false,"properties":{"contains":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The reply contains it, whatever the case."},"contains_any":{"type":"array","minItems":1,"maxItems":100,"description":"The reply contains one of these, whatever the case.","items":{"type":"string","pattern":"^[\\s\\S]{1,10000}$"}},"lacks":{"type":"string","pattern":"^[\\s\\S]{1,10000}$","description":"The reply does not contain it, whatever the case."},"matches":{"type":"string","pattern":"^[\\s\\S]{1,1000}$","description":"A regular expression of JavaScript that the reply matches somewhere, whatever the case."},"tool_called":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Name of a tool that the agent called for the reply."},"turn":{"type":"integer","minimum":1,"maximum":1000,"description":"The reply is that of this turn, 1 for the first."}},"minProperties":1};
const pattern31 = new RegExp("^[\\s\\S]{1,1000}$", "u");

function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="scenario.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.user === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "user"},message:"must have required property '"+"user"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema66.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(!pattern8.test(data0)){
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.name !== undefined){
let data1 = data.name;
if(typeof data1 === "string"){
if(!pattern3.test(data1)){
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.category !== undefined){
let data2 = data.category;
if(typeof data2 === "string"){
if(!pattern4.test(data2)){
const err8 = {instancePath:instancePath+"/category",schemaPath:"#/properties/category/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/category",schemaPath:"#/properties/category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.tags !== undefined){
let data3 = data.tags;
if(Array.isArray(data3)){
if(data3.length > 50){
const err10 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/maxItems",keyword:"maxItems",params:{limit: 50},message:"must NOT have more than 50 items"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
if(typeof data4 === "string"){
if(!pattern4.test(data4)){
const err11 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.channel !== undefined){
let data5 = data.channel;
if(typeof data5 !== "string"){
const err14 = {instancePath:instancePath+"/channel",schemaPath:"#/properties/channel/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!((data5 === "chat") || (data5 === "voice"))){
const err15 = {instancePath:instancePath+"/channel",schemaPath:"#/properties/channel/enum",keyword:"enum",params:{allowedValues: schema66.properties.channel.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.persona !== undefined){
let data6 = data.persona;
if(typeof data6 === "string"){
if(!pattern8.test(data6)){
const err16 = {instancePath:instancePath+"/persona",schemaPath:"#/properties/persona/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/persona",schemaPath:"#/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.initial_messages !== undefined){
let data7 = data.initial_messages;
if(Array.isArray(data7)){
if(data7.length > 1000){
const err18 = {instancePath:instancePath+"/initial_messages",schemaPath:"#/properties/initial_messages/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const len1 = data7.length;
for(let i1=0; i1<len1; i1++){
let data8 = data7[i1];
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.role === undefined){
const err19 = {instancePath:instancePath+"/initial_messages/" + i1,schemaPath:"#/properties/initial_messages/items/required",keyword:"required",params:{missingProperty: "role"},message:"must have required property '"+"role"+"'"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(data8.content === undefined){
const err20 = {instancePath:instancePath+"/initial_messages/" + i1,schemaPath:"#/properties/initial_messages/items/required",keyword:"required",params:{missingProperty: "content"},message:"must have required property '"+"content"+"'"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
for(const key1 in data8){
if(!((key1 === "role") || (key1 === "content"))){
const err21 = {instancePath:instancePath+"/initial_messages/" + i1,schemaPath:"#/properties/initial_messages/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data8.role !== undefined){
let data9 = data8.role;
if(typeof data9 !== "string"){
const err22 = {instancePath:instancePath+"/initial_messages/" + i1+"/role",schemaPath:"#/properties/initial_messages/items/properties/role/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(!(((data9 === "system") || (data9 === "user")) || (data9 === "assistant"))){
const err23 = {instancePath:instancePath+"/initial_messages/" + i1+"/role",schemaPath:"#/properties/initial_messages/items/properties/role/enum",keyword:"enum",params:{allowedValues: schema66.properties.initial_messages.items.properties.role.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data8.content !== undefined){
if(typeof data8.content !== "string"){
const err24 = {instancePath:instancePath+"/initial_messages/" + i1+"/content",schemaPath:"#/properties/initial_messages/items/properties/content/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath:instancePath+"/initial_messages/" + i1,schemaPath:"#/properties/initial_messages/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/initial_messages",schemaPath:"#/properties/initial_messages/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.seed !== undefined){
let data11 = data.seed;
if(typeof data11 === "string"){
if(!pattern3.test(data11)){
const err27 = {instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/seed",schemaPath:"#/properties/seed/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.samples !== undefined){
let data12 = data.samples;
if(!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))){
const err29 = {instancePath:instancePath+"/samples",schemaPath:"#/properties/samples/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 1000 || isNaN(data12)){
const err30 = {instancePath:instancePath+"/samples",schemaPath:"#/properties/samples/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(data12 < 1 || isNaN(data12)){
const err31 = {instancePath:instancePath+"/samples",schemaPath:"#/properties/samples/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
if(data.pass_rate !== undefined){
let data13 = data.pass_rate;
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 1 || isNaN(data13)){
const err32 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(data13 < 0 || isNaN(data13)){
const err33 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
else {
const err34 = {instancePath:instancePath+"/pass_rate",schemaPath:"#/properties/pass_rate/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data.evals !== undefined){
let data14 = data.evals;
if(Array.isArray(data14)){
if(data14.length > 100){
const err35 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
const len2 = data14.length;
for(let i2=0; i2<len2; i2++){
let data15 = data14[i2];
if(typeof data15 === "string"){
if(!pattern2.test(data15)){
const err36 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"#/properties/evals/items/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
else {
const err37 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"#/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
else {
const err38 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data.user !== undefined){
let data16 = data.user;
const _errs39 = errors;
let valid9 = true;
const _errs40 = errors;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
let missing0;
if((data16.mode === undefined) && (missing0 = "mode")){
const err39 = {};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
else {
if(data16.mode !== undefined){
if("llm" !== data16.mode){
const err40 = {};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
}
var _valid0 = _errs40 === errors;
errors = _errs39;
if(vErrors !== null){
if(_errs39){
vErrors.length = _errs39;
}
else {
vErrors = null;
}
}
let ifClause0;
if(_valid0){
const _errs42 = errors;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
if(data16.goal === undefined){
const err41 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/allOf/0/then/required",keyword:"required",params:{missingProperty: "goal"},message:"must have required property '"+"goal"+"'"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
if(data16.goal !== undefined){
if(typeof data16.goal !== "string"){
const err42 = {instancePath:instancePath+"/user/goal",schemaPath:"#/properties/user/allOf/0/then/properties/goal/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
}
var _valid0 = _errs42 === errors;
valid9 = _valid0;
ifClause0 = "then";
}
else {
const _errs45 = errors;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
if(data16.opening === undefined){
const err43 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/allOf/0/else/required",keyword:"required",params:{missingProperty: "opening"},message:"must have required property '"+"opening"+"'"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(data16.opening !== undefined){
if(typeof data16.opening !== "string"){
const err44 = {instancePath:instancePath+"/user/opening",schemaPath:"#/properties/user/allOf/0/else/properties/opening/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
}
var _valid0 = _errs45 === errors;
valid9 = _valid0;
ifClause0 = "else";
}
if(!valid9){
const err45 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/allOf/0/if",keyword:"if",params:{failingKeyword: ifClause0},message:"must match \""+ifClause0+"\" schema"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
const _errs49 = errors;
let valid13 = true;
const _errs50 = errors;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
let missing1;
if((data16.mode === undefined) && (missing1 = "mode")){
const err46 = {};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
else {
if(data16.mode !== undefined){
if("scripted" !== data16.mode){
const err47 = {};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
}
var _valid1 = _errs50 === errors;
errors = _errs49;
if(vErrors !== null){
if(_errs49){
vErrors.length = _errs49;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs52 = errors;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
if(data16.steps !== undefined){
let data21 = data16.steps;
if(Array.isArray(data21)){
const len3 = data21.length;
for(let i3=0; i3<len3; i3++){
let data22 = data21[i3];
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
if(data22.when !== undefined){
const err48 = {instancePath:instancePath+"/user/steps/" + i3+"/when",schemaPath:"#/properties/user/allOf/1/then/properties/steps/items/properties/when/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(data22.otherwise !== undefined){
const err49 = {instancePath:instancePath+"/user/steps/" + i3+"/otherwise",schemaPath:"#/properties/user/allOf/1/then/properties/steps/items/properties/otherwise/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(data22.next !== undefined){
const err50 = {instancePath:instancePath+"/user/steps/" + i3+"/next",schemaPath:"#/properties/user/allOf/1/then/properties/steps/items/properties/next/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
else {
const err51 = {instancePath:instancePath+"/user/steps/" + i3,schemaPath:"#/properties/user/allOf/1/then/properties/steps/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
else {
const err52 = {instancePath:instancePath+"/user/steps",schemaPath:"#/properties/user/allOf/1/then/properties/steps/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data16.reactions !== undefined){
const err53 = {instancePath:instancePath+"/user/reactions",schemaPath:"#/properties/user/allOf/1/then/properties/reactions/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
if(data16.facts !== undefined){
const err54 = {instancePath:instancePath+"/user/facts",schemaPath:"#/properties/user/allOf/1/then/properties/facts/false schema",keyword:"false schema",params:{},message:"boolean schema is false"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
var _valid1 = _errs52 === errors;
valid13 = _valid1;
}
if(!valid13){
const err55 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
for(const key2 in data16){
if(!((((((((key2 === "mode") || (key2 === "opening")) || (key2 === "goal")) || (key2 === "speaks_first")) || (key2 === "facts")) || (key2 === "steps")) || (key2 === "reactions")) || (key2 === "stop_when"))){
const err56 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data16.mode !== undefined){
let data28 = data16.mode;
if(typeof data28 !== "string"){
const err57 = {instancePath:instancePath+"/user/mode",schemaPath:"#/properties/user/properties/mode/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
if(!(((data28 === "scripted") || (data28 === "graph")) || (data28 === "llm"))){
const err58 = {instancePath:instancePath+"/user/mode",schemaPath:"#/properties/user/properties/mode/enum",keyword:"enum",params:{allowedValues: schema66.properties.user.properties.mode.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
if(data16.opening !== undefined){
let data29 = data16.opening;
if(typeof data29 === "string"){
if(!pattern10.test(data29)){
const err59 = {instancePath:instancePath+"/user/opening",schemaPath:"#/properties/user/properties/opening/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
else {
const err60 = {instancePath:instancePath+"/user/opening",schemaPath:"#/properties/user/properties/opening/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data16.goal !== undefined){
let data30 = data16.goal;
if(typeof data30 === "string"){
if(!pattern10.test(data30)){
const err61 = {instancePath:instancePath+"/user/goal",schemaPath:"#/properties/user/properties/goal/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
else {
const err62 = {instancePath:instancePath+"/user/goal",schemaPath:"#/properties/user/properties/goal/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
if(data16.speaks_first !== undefined){
if(typeof data16.speaks_first !== "boolean"){
const err63 = {instancePath:instancePath+"/user/speaks_first",schemaPath:"#/properties/user/properties/speaks_first/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
}
if(data16.facts !== undefined){
let data32 = data16.facts;
if(Array.isArray(data32)){
if(data32.length > 100){
const err64 = {instancePath:instancePath+"/user/facts",schemaPath:"#/properties/user/properties/facts/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
const len4 = data32.length;
for(let i4=0; i4<len4; i4++){
let data33 = data32[i4];
if(data33 && typeof data33 == "object" && !Array.isArray(data33)){
if(data33.name === undefined){
const err65 = {instancePath:instancePath+"/user/facts/" + i4,schemaPath:"#/properties/user/properties/facts/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
if(data33.value === undefined){
const err66 = {instancePath:instancePath+"/user/facts/" + i4,schemaPath:"#/properties/user/properties/facts/items/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
for(const key3 in data33){
if(!((((key3 === "name") || (key3 === "value")) || (key3 === "asked_by")) || (key3 === "say"))){
const err67 = {instancePath:instancePath+"/user/facts/" + i4,schemaPath:"#/properties/user/properties/facts/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data33.name !== undefined){
let data34 = data33.name;
if(typeof data34 === "string"){
if(!pattern4.test(data34)){
const err68 = {instancePath:instancePath+"/user/facts/" + i4+"/name",schemaPath:"#/properties/user/properties/facts/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
else {
const err69 = {instancePath:instancePath+"/user/facts/" + i4+"/name",schemaPath:"#/properties/user/properties/facts/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
if(data33.value !== undefined){
let data35 = data33.value;
if(typeof data35 === "string"){
if(!pattern10.test(data35)){
const err70 = {instancePath:instancePath+"/user/facts/" + i4+"/value",schemaPath:"#/properties/user/properties/facts/items/properties/value/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
else {
const err71 = {instancePath:instancePath+"/user/facts/" + i4+"/value",schemaPath:"#/properties/user/properties/facts/items/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data33.asked_by !== undefined){
let data36 = data33.asked_by;
if(Array.isArray(data36)){
if(data36.length > 100){
const err72 = {instancePath:instancePath+"/user/facts/" + i4+"/asked_by",schemaPath:"#/properties/user/properties/facts/items/properties/asked_by/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
if(data36.length < 1){
const err73 = {instancePath:instancePath+"/user/facts/" + i4+"/asked_by",schemaPath:"#/properties/user/properties/facts/items/properties/asked_by/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
const len5 = data36.length;
for(let i5=0; i5<len5; i5++){
let data37 = data36[i5];
if(typeof data37 === "string"){
if(!pattern4.test(data37)){
const err74 = {instancePath:instancePath+"/user/facts/" + i4+"/asked_by/" + i5,schemaPath:"#/properties/user/properties/facts/items/properties/asked_by/items/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
else {
const err75 = {instancePath:instancePath+"/user/facts/" + i4+"/asked_by/" + i5,schemaPath:"#/properties/user/properties/facts/items/properties/asked_by/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
}
else {
const err76 = {instancePath:instancePath+"/user/facts/" + i4+"/asked_by",schemaPath:"#/properties/user/properties/facts/items/properties/asked_by/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data33.say !== undefined){
let data38 = data33.say;
if(typeof data38 === "string"){
if(!pattern10.test(data38)){
const err77 = {instancePath:instancePath+"/user/facts/" + i4+"/say",schemaPath:"#/properties/user/properties/facts/items/properties/say/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
else {
const err78 = {instancePath:instancePath+"/user/facts/" + i4+"/say",schemaPath:"#/properties/user/properties/facts/items/properties/say/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
}
else {
const err79 = {instancePath:instancePath+"/user/facts/" + i4,schemaPath:"#/properties/user/properties/facts/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
else {
const err80 = {instancePath:instancePath+"/user/facts",schemaPath:"#/properties/user/properties/facts/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data16.steps !== undefined){
let data39 = data16.steps;
if(Array.isArray(data39)){
if(data39.length > 1000){
const err81 = {instancePath:instancePath+"/user/steps",schemaPath:"#/properties/user/properties/steps/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
const len6 = data39.length;
for(let i6=0; i6<len6; i6++){
let data40 = data39[i6];
if(data40 && typeof data40 == "object" && !Array.isArray(data40)){
if(data40.say === undefined){
const err82 = {instancePath:instancePath+"/user/steps/" + i6,schemaPath:"#/properties/user/properties/steps/items/required",keyword:"required",params:{missingProperty: "say"},message:"must have required property '"+"say"+"'"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
for(const key4 in data40){
if(!((((((key4 === "id") || (key4 === "when")) || (key4 === "say")) || (key4 === "otherwise")) || (key4 === "next")) || (key4 === "reason"))){
const err83 = {instancePath:instancePath+"/user/steps/" + i6,schemaPath:"#/properties/user/properties/steps/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data40.id !== undefined){
let data41 = data40.id;
if(typeof data41 === "string"){
if(!pattern2.test(data41)){
const err84 = {instancePath:instancePath+"/user/steps/" + i6+"/id",schemaPath:"#/properties/user/properties/steps/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
else {
const err85 = {instancePath:instancePath+"/user/steps/" + i6+"/id",schemaPath:"#/properties/user/properties/steps/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
if(data40.when !== undefined){
let data42 = data40.when;
if(data42 && typeof data42 == "object" && !Array.isArray(data42)){
if(Object.keys(data42).length < 1){
const err86 = {instancePath:instancePath+"/user/steps/" + i6+"/when",schemaPath:"#/definitions/condition/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
for(const key5 in data42){
if(!((((((key5 === "contains") || (key5 === "contains_any")) || (key5 === "lacks")) || (key5 === "matches")) || (key5 === "tool_called")) || (key5 === "turn"))){
const err87 = {instancePath:instancePath+"/user/steps/" + i6+"/when",schemaPath:"#/definitions/condition/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data42.contains !== undefined){
let data43 = data42.contains;
if(typeof data43 === "string"){
if(!pattern10.test(data43)){
const err88 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains",schemaPath:"#/definitions/condition/properties/contains/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
else {
const err89 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains",schemaPath:"#/definitions/condition/properties/contains/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
if(data42.contains_any !== undefined){
let data44 = data42.contains_any;
if(Array.isArray(data44)){
if(data44.length > 100){
const err90 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
if(data44.length < 1){
const err91 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
const len7 = data44.length;
for(let i7=0; i7<len7; i7++){
let data45 = data44[i7];
if(typeof data45 === "string"){
if(!pattern10.test(data45)){
const err92 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains_any/" + i7,schemaPath:"#/definitions/condition/properties/contains_any/items/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
else {
const err93 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains_any/" + i7,schemaPath:"#/definitions/condition/properties/contains_any/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
}
else {
const err94 = {instancePath:instancePath+"/user/steps/" + i6+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
if(data42.lacks !== undefined){
let data46 = data42.lacks;
if(typeof data46 === "string"){
if(!pattern10.test(data46)){
const err95 = {instancePath:instancePath+"/user/steps/" + i6+"/when/lacks",schemaPath:"#/definitions/condition/properties/lacks/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
else {
const err96 = {instancePath:instancePath+"/user/steps/" + i6+"/when/lacks",schemaPath:"#/definitions/condition/properties/lacks/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
if(data42.matches !== undefined){
let data47 = data42.matches;
if(typeof data47 === "string"){
if(!pattern31.test(data47)){
const err97 = {instancePath:instancePath+"/user/steps/" + i6+"/when/matches",schemaPath:"#/definitions/condition/properties/matches/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,1000}$"},message:"must match pattern \""+"^[\\s\\S]{1,1000}$"+"\""};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
else {
const err98 = {instancePath:instancePath+"/user/steps/" + i6+"/when/matches",schemaPath:"#/definitions/condition/properties/matches/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
if(data42.tool_called !== undefined){
let data48 = data42.tool_called;
if(typeof data48 === "string"){
if(!pattern3.test(data48)){
const err99 = {instancePath:instancePath+"/user/steps/" + i6+"/when/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
else {
const err100 = {instancePath:instancePath+"/user/steps/" + i6+"/when/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data42.turn !== undefined){
let data49 = data42.turn;
if(!(((typeof data49 == "number") && (!(data49 % 1) && !isNaN(data49))) && (isFinite(data49)))){
const err101 = {instancePath:instancePath+"/user/steps/" + i6+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
if((typeof data49 == "number") && (isFinite(data49))){
if(data49 > 1000 || isNaN(data49)){
const err102 = {instancePath:instancePath+"/user/steps/" + i6+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
if(data49 < 1 || isNaN(data49)){
const err103 = {instancePath:instancePath+"/user/steps/" + i6+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
}
}
else {
const err104 = {instancePath:instancePath+"/user/steps/" + i6+"/when",schemaPath:"#/definitions/condition/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
if(data40.say !== undefined){
let data50 = data40.say;
if(typeof data50 === "string"){
if(!pattern10.test(data50)){
const err105 = {instancePath:instancePath+"/user/steps/" + i6+"/say",schemaPath:"#/properties/user/properties/steps/items/properties/say/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
else {
const err106 = {instancePath:instancePath+"/user/steps/" + i6+"/say",schemaPath:"#/properties/user/properties/steps/items/properties/say/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data40.otherwise !== undefined){
let data51 = data40.otherwise;
if(typeof data51 === "string"){
if(!pattern10.test(data51)){
const err107 = {instancePath:instancePath+"/user/steps/" + i6+"/otherwise",schemaPath:"#/properties/user/properties/steps/items/properties/otherwise/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
else {
const err108 = {instancePath:instancePath+"/user/steps/" + i6+"/otherwise",schemaPath:"#/properties/user/properties/steps/items/properties/otherwise/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
if(data40.next !== undefined){
let data52 = data40.next;
if(typeof data52 === "string"){
if(!pattern2.test(data52)){
const err109 = {instancePath:instancePath+"/user/steps/" + i6+"/next",schemaPath:"#/properties/user/properties/steps/items/properties/next/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
else {
const err110 = {instancePath:instancePath+"/user/steps/" + i6+"/next",schemaPath:"#/properties/user/properties/steps/items/properties/next/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
if(data40.reason !== undefined){
let data53 = data40.reason;
if(typeof data53 === "string"){
if(!pattern3.test(data53)){
const err111 = {instancePath:instancePath+"/user/steps/" + i6+"/reason",schemaPath:"#/properties/user/properties/steps/items/properties/reason/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
else {
const err112 = {instancePath:instancePath+"/user/steps/" + i6+"/reason",schemaPath:"#/properties/user/properties/steps/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
}
else {
const err113 = {instancePath:instancePath+"/user/steps/" + i6,schemaPath:"#/properties/user/properties/steps/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
}
else {
const err114 = {instancePath:instancePath+"/user/steps",schemaPath:"#/properties/user/properties/steps/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
if(data16.reactions !== undefined){
let data54 = data16.reactions;
if(Array.isArray(data54)){
if(data54.length > 100){
const err115 = {instancePath:instancePath+"/user/reactions",schemaPath:"#/properties/user/properties/reactions/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
const len8 = data54.length;
for(let i8=0; i8<len8; i8++){
let data55 = data54[i8];
if(data55 && typeof data55 == "object" && !Array.isArray(data55)){
if(data55.when === undefined){
const err116 = {instancePath:instancePath+"/user/reactions/" + i8,schemaPath:"#/properties/user/properties/reactions/items/required",keyword:"required",params:{missingProperty: "when"},message:"must have required property '"+"when"+"'"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
if(data55.say === undefined){
const err117 = {instancePath:instancePath+"/user/reactions/" + i8,schemaPath:"#/properties/user/properties/reactions/items/required",keyword:"required",params:{missingProperty: "say"},message:"must have required property '"+"say"+"'"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
for(const key6 in data55){
if(!(((((key6 === "when") || (key6 === "say")) || (key6 === "times")) || (key6 === "stop")) || (key6 === "reason"))){
const err118 = {instancePath:instancePath+"/user/reactions/" + i8,schemaPath:"#/properties/user/properties/reactions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
if(data55.when !== undefined){
let data56 = data55.when;
if(data56 && typeof data56 == "object" && !Array.isArray(data56)){
if(Object.keys(data56).length < 1){
const err119 = {instancePath:instancePath+"/user/reactions/" + i8+"/when",schemaPath:"#/definitions/condition/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
for(const key7 in data56){
if(!((((((key7 === "contains") || (key7 === "contains_any")) || (key7 === "lacks")) || (key7 === "matches")) || (key7 === "tool_called")) || (key7 === "turn"))){
const err120 = {instancePath:instancePath+"/user/reactions/" + i8+"/when",schemaPath:"#/definitions/condition/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
if(data56.contains !== undefined){
let data57 = data56.contains;
if(typeof data57 === "string"){
if(!pattern10.test(data57)){
const err121 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains",schemaPath:"#/definitions/condition/properties/contains/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
else {
const err122 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains",schemaPath:"#/definitions/condition/properties/contains/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data56.contains_any !== undefined){
let data58 = data56.contains_any;
if(Array.isArray(data58)){
if(data58.length > 100){
const err123 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
if(data58.length < 1){
const err124 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
const len9 = data58.length;
for(let i9=0; i9<len9; i9++){
let data59 = data58[i9];
if(typeof data59 === "string"){
if(!pattern10.test(data59)){
const err125 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains_any/" + i9,schemaPath:"#/definitions/condition/properties/contains_any/items/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
else {
const err126 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains_any/" + i9,schemaPath:"#/definitions/condition/properties/contains_any/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
}
else {
const err127 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
}
if(data56.lacks !== undefined){
let data60 = data56.lacks;
if(typeof data60 === "string"){
if(!pattern10.test(data60)){
const err128 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/lacks",schemaPath:"#/definitions/condition/properties/lacks/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
else {
const err129 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/lacks",schemaPath:"#/definitions/condition/properties/lacks/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
if(data56.matches !== undefined){
let data61 = data56.matches;
if(typeof data61 === "string"){
if(!pattern31.test(data61)){
const err130 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/matches",schemaPath:"#/definitions/condition/properties/matches/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,1000}$"},message:"must match pattern \""+"^[\\s\\S]{1,1000}$"+"\""};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
else {
const err131 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/matches",schemaPath:"#/definitions/condition/properties/matches/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data56.tool_called !== undefined){
let data62 = data56.tool_called;
if(typeof data62 === "string"){
if(!pattern3.test(data62)){
const err132 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
else {
const err133 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data56.turn !== undefined){
let data63 = data56.turn;
if(!(((typeof data63 == "number") && (!(data63 % 1) && !isNaN(data63))) && (isFinite(data63)))){
const err134 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
if((typeof data63 == "number") && (isFinite(data63))){
if(data63 > 1000 || isNaN(data63)){
const err135 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
if(data63 < 1 || isNaN(data63)){
const err136 = {instancePath:instancePath+"/user/reactions/" + i8+"/when/turn",schemaPath:"#/definitions/condition/properties/turn/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
}
}
else {
const err137 = {instancePath:instancePath+"/user/reactions/" + i8+"/when",schemaPath:"#/definitions/condition/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
if(data55.say !== undefined){
let data64 = data55.say;
if(typeof data64 === "string"){
if(!pattern10.test(data64)){
const err138 = {instancePath:instancePath+"/user/reactions/" + i8+"/say",schemaPath:"#/properties/user/properties/reactions/items/properties/say/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
else {
const err139 = {instancePath:instancePath+"/user/reactions/" + i8+"/say",schemaPath:"#/properties/user/properties/reactions/items/properties/say/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
}
if(data55.times !== undefined){
let data65 = data55.times;
if(!(((typeof data65 == "number") && (!(data65 % 1) && !isNaN(data65))) && (isFinite(data65)))){
const err140 = {instancePath:instancePath+"/user/reactions/" + i8+"/times",schemaPath:"#/properties/user/properties/reactions/items/properties/times/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
if((typeof data65 == "number") && (isFinite(data65))){
if(data65 > 1000 || isNaN(data65)){
const err141 = {instancePath:instancePath+"/user/reactions/" + i8+"/times",schemaPath:"#/properties/user/properties/reactions/items/properties/times/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
if(data65 < 1 || isNaN(data65)){
const err142 = {instancePath:instancePath+"/user/reactions/" + i8+"/times",schemaPath:"#/properties/user/properties/reactions/items/properties/times/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
}
if(data55.stop !== undefined){
if(typeof data55.stop !== "boolean"){
const err143 = {instancePath:instancePath+"/user/reactions/" + i8+"/stop",schemaPath:"#/properties/user/properties/reactions/items/properties/stop/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
if(data55.reason !== undefined){
let data67 = data55.reason;
if(typeof data67 === "string"){
if(!pattern3.test(data67)){
const err144 = {instancePath:instancePath+"/user/reactions/" + i8+"/reason",schemaPath:"#/properties/user/properties/reactions/items/properties/reason/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
else {
const err145 = {instancePath:instancePath+"/user/reactions/" + i8+"/reason",schemaPath:"#/properties/user/properties/reactions/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
}
}
else {
const err146 = {instancePath:instancePath+"/user/reactions/" + i8,schemaPath:"#/properties/user/properties/reactions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
}
}
else {
const err147 = {instancePath:instancePath+"/user/reactions",schemaPath:"#/properties/user/properties/reactions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
}
if(data16.stop_when !== undefined){
let data68 = data16.stop_when;
if(Array.isArray(data68)){
if(data68.length > 100){
const err148 = {instancePath:instancePath+"/user/stop_when",schemaPath:"#/properties/user/properties/stop_when/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
const len10 = data68.length;
for(let i10=0; i10<len10; i10++){
let data69 = data68[i10];
if(data69 && typeof data69 == "object" && !Array.isArray(data69)){
if(Object.keys(data69).length < 1){
const err149 = {instancePath:instancePath+"/user/stop_when/" + i10,schemaPath:"#/definitions/condition/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties"};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
for(const key8 in data69){
if(!((((((key8 === "contains") || (key8 === "contains_any")) || (key8 === "lacks")) || (key8 === "matches")) || (key8 === "tool_called")) || (key8 === "turn"))){
const err150 = {instancePath:instancePath+"/user/stop_when/" + i10,schemaPath:"#/definitions/condition/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
if(data69.contains !== undefined){
let data70 = data69.contains;
if(typeof data70 === "string"){
if(!pattern10.test(data70)){
const err151 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains",schemaPath:"#/definitions/condition/properties/contains/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
}
else {
const err152 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains",schemaPath:"#/definitions/condition/properties/contains/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
}
if(data69.contains_any !== undefined){
let data71 = data69.contains_any;
if(Array.isArray(data71)){
if(data71.length > 100){
const err153 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
if(data71.length < 1){
const err154 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
const len11 = data71.length;
for(let i11=0; i11<len11; i11++){
let data72 = data71[i11];
if(typeof data72 === "string"){
if(!pattern10.test(data72)){
const err155 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains_any/" + i11,schemaPath:"#/definitions/condition/properties/contains_any/items/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
}
else {
const err156 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains_any/" + i11,schemaPath:"#/definitions/condition/properties/contains_any/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
}
}
else {
const err157 = {instancePath:instancePath+"/user/stop_when/" + i10+"/contains_any",schemaPath:"#/definitions/condition/properties/contains_any/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
}
if(data69.lacks !== undefined){
let data73 = data69.lacks;
if(typeof data73 === "string"){
if(!pattern10.test(data73)){
const err158 = {instancePath:instancePath+"/user/stop_when/" + i10+"/lacks",schemaPath:"#/definitions/condition/properties/lacks/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
}
else {
const err159 = {instancePath:instancePath+"/user/stop_when/" + i10+"/lacks",schemaPath:"#/definitions/condition/properties/lacks/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
}
if(data69.matches !== undefined){
let data74 = data69.matches;
if(typeof data74 === "string"){
if(!pattern31.test(data74)){
const err160 = {instancePath:instancePath+"/user/stop_when/" + i10+"/matches",schemaPath:"#/definitions/condition/properties/matches/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,1000}$"},message:"must match pattern \""+"^[\\s\\S]{1,1000}$"+"\""};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
}
else {
const err161 = {instancePath:instancePath+"/user/stop_when/" + i10+"/matches",schemaPath:"#/definitions/condition/properties/matches/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
}
if(data69.tool_called !== undefined){
let data75 = data69.tool_called;
if(typeof data75 === "string"){
if(!pattern3.test(data75)){
const err162 = {instancePath:instancePath+"/user/stop_when/" + i10+"/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
}
else {
const err163 = {instancePath:instancePath+"/user/stop_when/" + i10+"/tool_called",schemaPath:"#/definitions/condition/properties/tool_called/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
}
if(data69.turn !== undefined){
let data76 = data69.turn;
if(!(((typeof data76 == "number") && (!(data76 % 1) && !isNaN(data76))) && (isFinite(data76)))){
const err164 = {instancePath:instancePath+"/user/stop_when/" + i10+"/turn",schemaPath:"#/definitions/condition/properties/turn/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
if((typeof data76 == "number") && (isFinite(data76))){
if(data76 > 1000 || isNaN(data76)){
const err165 = {instancePath:instancePath+"/user/stop_when/" + i10+"/turn",schemaPath:"#/definitions/condition/properties/turn/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
if(data76 < 1 || isNaN(data76)){
const err166 = {instancePath:instancePath+"/user/stop_when/" + i10+"/turn",schemaPath:"#/definitions/condition/properties/turn/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
}
}
}
else {
const err167 = {instancePath:instancePath+"/user/stop_when/" + i10,schemaPath:"#/definitions/condition/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
}
}
else {
const err168 = {instancePath:instancePath+"/user/stop_when",schemaPath:"#/properties/user/properties/stop_when/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
}
}
else {
const err169 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
}
if(data.metadata !== undefined){
let data77 = data.metadata;
if(data77 && typeof data77 == "object" && !Array.isArray(data77)){
if(data77.time_of_day !== undefined){
if(typeof data77.time_of_day !== "string"){
const err170 = {instancePath:instancePath+"/metadata/time_of_day",schemaPath:"#/properties/metadata/properties/time_of_day/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
}
}
else {
const err171 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
}
if(data.profile !== undefined){
let data79 = data.profile;
if(data79 && typeof data79 == "object" && !Array.isArray(data79)){
for(const key9 in data79){
if(!((((key9 === "name") || (key9 === "email")) || (key9 === "tier")) || (key9 === "location"))){
const err172 = {instancePath:instancePath+"/profile",schemaPath:"#/properties/profile/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
}
if(data79.name !== undefined){
if(typeof data79.name !== "string"){
const err173 = {instancePath:instancePath+"/profile/name",schemaPath:"#/properties/profile/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
}
if(data79.email !== undefined){
if(typeof data79.email !== "string"){
const err174 = {instancePath:instancePath+"/profile/email",schemaPath:"#/properties/profile/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
}
if(data79.tier !== undefined){
if(typeof data79.tier !== "string"){
const err175 = {instancePath:instancePath+"/profile/tier",schemaPath:"#/properties/profile/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
}
if(data79.location !== undefined){
if(typeof data79.location !== "string"){
const err176 = {instancePath:instancePath+"/profile/location",schemaPath:"#/properties/profile/properties/location/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
}
}
else {
const err177 = {instancePath:instancePath+"/profile",schemaPath:"#/properties/profile/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
}
if(data.preferences !== undefined){
let data84 = data.preferences;
if(!(data84 && typeof data84 == "object" && !Array.isArray(data84))){
const err178 = {instancePath:instancePath+"/preferences",schemaPath:"#/properties/preferences/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
}
if(data.history !== undefined){
let data85 = data.history;
if(!(data85 && typeof data85 == "object" && !Array.isArray(data85))){
const err179 = {instancePath:instancePath+"/history",schemaPath:"#/properties/history/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
}
if(data.limits !== undefined){
let data86 = data.limits;
if(data86 && typeof data86 == "object" && !Array.isArray(data86)){
for(const key10 in data86){
if(!(((key10 === "max_turns") || (key10 === "turn_timeout_ms")) || (key10 === "max_duration_ms"))){
const err180 = {instancePath:instancePath+"/limits",schemaPath:"#/properties/limits/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
}
if(data86.max_turns !== undefined){
let data87 = data86.max_turns;
if(!(((typeof data87 == "number") && (!(data87 % 1) && !isNaN(data87))) && (isFinite(data87)))){
const err181 = {instancePath:instancePath+"/limits/max_turns",schemaPath:"#/properties/limits/properties/max_turns/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
if((typeof data87 == "number") && (isFinite(data87))){
if(data87 > 1000 || isNaN(data87)){
const err182 = {instancePath:instancePath+"/limits/max_turns",schemaPath:"#/properties/limits/properties/max_turns/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
if(data87 < 1 || isNaN(data87)){
const err183 = {instancePath:instancePath+"/limits/max_turns",schemaPath:"#/properties/limits/properties/max_turns/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
}
}
if(data86.turn_timeout_ms !== undefined){
let data88 = data86.turn_timeout_ms;
if(!(((typeof data88 == "number") && (!(data88 % 1) && !isNaN(data88))) && (isFinite(data88)))){
const err184 = {instancePath:instancePath+"/limits/turn_timeout_ms",schemaPath:"#/properties/limits/properties/turn_timeout_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
if((typeof data88 == "number") && (isFinite(data88))){
if(data88 > 600000 || isNaN(data88)){
const err185 = {instancePath:instancePath+"/limits/turn_timeout_ms",schemaPath:"#/properties/limits/properties/turn_timeout_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 600000},message:"must be <= 600000"};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
if(data88 < 1 || isNaN(data88)){
const err186 = {instancePath:instancePath+"/limits/turn_timeout_ms",schemaPath:"#/properties/limits/properties/turn_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
}
}
if(data86.max_duration_ms !== undefined){
let data89 = data86.max_duration_ms;
if(!(((typeof data89 == "number") && (!(data89 % 1) && !isNaN(data89))) && (isFinite(data89)))){
const err187 = {instancePath:instancePath+"/limits/max_duration_ms",schemaPath:"#/properties/limits/properties/max_duration_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
if((typeof data89 == "number") && (isFinite(data89))){
if(data89 > 86400000 || isNaN(data89)){
const err188 = {instancePath:instancePath+"/limits/max_duration_ms",schemaPath:"#/properties/limits/properties/max_duration_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400000},message:"must be <= 86400000"};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
if(data89 < 1 || isNaN(data89)){
const err189 = {instancePath:instancePath+"/limits/max_duration_ms",schemaPath:"#/properties/limits/properties/max_duration_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
}
}
}
else {
const err190 = {instancePath:instancePath+"/limits",schemaPath:"#/properties/limits/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
}
}
else {
const err191 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
validate42.errors = vErrors;
return errors === 0;
}

export const SeedDocument = validate43;
const schema70 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"seed-document.schema.json","title":"SeedDocument","$comment":"our extension; the seed file and POST /__admin/seed of the service","description":"What a service is filled with: everything in it belongs to one owner, but for keys that name another.","x-extension":true,"type":"object","required":[],"additionalProperties":false,"properties":{"keys":{"type":"array","maxItems":1000,"items":{"$ref":"key-grant.schema.json"}},"agents":{"type":"array","maxItems":1000,"description":"Agents that simulations name; one without a url is a name alone, and not kept.","items":{"title":"SeedAgent","type":"object","required":["name"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$"},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"url":{"type":"string","pattern":"^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"},"api_key":{"type":"string","pattern":"^[\\x21-\\x7e]{1,4096}$","description":"The sandbox's bearer key, visible ASCII. Kept, and never shown again."}}}},"evals":{"type":"array","maxItems":1000,"items":{"$ref":"eval-definition.schema.json"}},"settings":{"$ref":"live-settings.schema.json"},"personas":{"type":"array","maxItems":1000,"description":"Who simulated users are.","items":{"$ref":"persona.schema.json"}},"scenarios":{"type":"array","maxItems":1000,"description":"What simulated users want; they may name evals and personas of the document or of the owner.","items":{"$ref":"scenario.schema.json"}},"transcripts":{"type":"array","maxItems":100000,"description":"Scored at once.","items":{"$ref":"transcript-upload.schema.json"}},"simulations":{"type":"array","maxItems":10000,"items":{"title":"SeedSimulation","type":"object","required":["name","agent"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Made from the name when left out."},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"agent":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Name or id of an agent of the document; any other is a name."},"deleted":{"type":"boolean","description":"Whether its row is deleted, so that its sessions have no link."},"sessions":{"type":"array","maxItems":100000,"items":{"title":"SeedSimulationSession","type":"object","required":["scenario","persona","started_at"],"additionalProperties":false,"properties":{"scenario":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"persona":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Made from its simulation and its place in it when left out."},"status":{"type":"string","enum":["pending","running","evaluating","completed","failed","cancelled"],"description":"completed when left out."},"started_at":{"type":"string","format":"iso8601"},"ended_at":{"type":"string","format":"iso8601","description":"started_at when left out."},"end_reason":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"metadata":{"type":"object","description":"Of the whole session: read by evals of kind json_path at $.metadata."},"evals":{"type":"array","maxItems":1000,"items":{"type":"string"},"description":"Ids of evals that are to score it, besides the outcomes that it has."},"turns":{"type":"array","maxItems":10000,"items":{"$ref":"#/definitions/turn"}},"outcomes":{"type":"array","maxItems":1000,"items":{"$ref":"#/definitions/outcome"}}}}}}}},"runs":{"type":"array","maxItems":10000,"description":"Runs of production evaluation.","items":{"title":"SeedRun","type":"object","required":["name","sessions"],"additionalProperties":false,"properties":{"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"sessions":{"type":"array","maxItems":100000,"items":{"title":"SeedProductionSession","type":"object","required":["source_session_id","started_at"],"additionalProperties":false,"properties":{"source_session_id":{"type":"string","pattern":"^[^\\r\\n]{1,256}$"},"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Made from its run and source_session_id when left out."},"status":{"type":"string","enum":["pending","running","evaluating","completed","failed","cancelled"],"description":"completed when left out."},"started_at":{"type":"string","format":"iso8601"},"ended_at":{"type":"string","format":"iso8601","description":"started_at when left out."},"end_reason":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"metadata":{"type":"object","description":"Of the whole session: read by evals of kind json_path at $.metadata."},"evals":{"type":"array","maxItems":1000,"items":{"type":"string"},"description":"Ids of evals that are to score it, besides the outcomes that it has."},"turns":{"type":"array","maxItems":10000,"items":{"$ref":"#/definitions/turn"}},"outcomes":{"type":"array","maxItems":1000,"items":{"$ref":"#/definitions/outcome"}}}}}}}}},"definitions":{"turn":{"title":"SeedTurn","type":"object","required":["user_input","agent_response"],"additionalProperties":false,"properties":{"user_input":{"type":"string"},"user_reason":{"type":"string","description":"Why the simulated user said it."},"agent_response":{"type":"string"},"evaluation_metadata":{"type":"object","description":"What the sandbox hinted at in the turn (spec 2.8): read by evals of kind evaluation_metadata."}}},"outcome":{"title":"SeedOutcome","type":"object","required":["outcome"],"additionalProperties":false,"properties":{"eval":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Id of an eval of the document or of the owner; gives name, category and type."},"eval_name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Wanted when eval is left out."},"eval_category":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"general when left out."},"eval_type":{"type":"string","enum":["session_level","turn_level"],"description":"session_level when left out."},"outcome":{"type":"string","enum":["pass","fail","error"]},"required":{"type":"boolean","description":"False never makes the session fail; as its eval has it when left out, else true."},"reasoning":{"type":"string"}}}},"examples":[{"keys":[{"key":"team-a-test-key","owner":"team-a"}],"agents":[{"name":"Shop agent","url":"https://shop.example/agent"}],"evals":[{"id":"order-found","name":"Order found","category":"task_completion","kind":"contains","params":{"text":"on its way"}}],"settings":{"evals":["order-found"],"run_name":"Live traces"},"transcripts":[{"session_id":"t-1","turns":[{"user_input":"Where is my order?","agent_response":"On its way."}]}],"simulations":[{"id":"sim-1","name":"Nightly","agent":"Shop agent","sessions":[{"id":"ses-1","scenario":"late-parcel","persona":"impatient","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","turns":[{"user_input":"Where is my order?","user_reason":"opens","agent_response":"On its way."}],"outcomes":[{"eval":"order-found","outcome":"pass","reasoning":"It was."}]}]}],"runs":[{"name":"Live traces 2026-11-19","sessions":[{"source_session_id":"conv-1","started_at":"2026-11-19T09:30:00Z","outcomes":[{"eval_name":"Polite","outcome":"fail","reasoning":"It was not."}]}]}],"personas":[{"id":"impatient","name":"Impatient"}],"scenarios":[{"id":"late-parcel","name":"Asks after a late parcel","persona":"impatient","evals":["order-found"],"user":{"opening":"Where is my parcel?"}}]},{}],"x-near-misses":[{"breaks":"/simulations/0/agent","value":{"simulations":[{"name":"Nightly"}]}},{"breaks":"/simulations/0/sessions/0/outcomes/0/outcome","value":{"simulations":[{"name":"N","agent":"A","sessions":[{"scenario":"s","persona":"p","started_at":"2026-11-20T09:30:00Z","outcomes":[{"eval_name":"e","outcome":"passed"}]}]}]}},{"breaks":"/users","value":{"users":[]}},{"breaks":"/scenarios/0/user","value":{"scenarios":[{"id":"a","name":"A"}]}},{"breaks":"/agents/0/url","value":{"agents":[{"name":"A","url":"shop.example"}]}}]};
const schema75 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"transcript-upload.schema.json","title":"TranscriptUpload","$comment":"spec 1; ours","description":"A finished conversation, handed in as text and scored at once.","x-extension":true,"type":"object","required":["session_id","turns"],"properties":{"session_id":{"type":"string","pattern":"^[^\\r\\n]{1,256}$"},"started_at":{"type":"string","format":"iso8601"},"turns":{"type":"array","minItems":1,"maxItems":10000,"items":{"title":"UploadedTurn","type":"object","required":["user_input","agent_response"],"properties":{"user_input":{"type":"string"},"agent_response":{"type":"string"},"evaluation_metadata":{"type":"object","description":"What the sandbox hinted at in the turn (spec 2.8): read by evals of kind evaluation_metadata."}},"additionalProperties":false}},"metadata":{"type":"object","description":"Of the whole conversation: read by evals of kind json_path at $.metadata."},"run":{"type":"string","pattern":"^[^\\r\\n]{1,200}$"},"evals":{"type":"array","items":{"type":"string"},"description":"Ids; the live set when left out."}},"additionalProperties":false,"examples":[{"session_id":"t-1","started_at":"2026-11-20T09:30:00Z","turns":[{"user_input":"Where is my order?","agent_response":"On its way."}]},{"session_id":"t-2","metadata":{"tier":"gold"},"turns":[{"user_input":"Where is my order?","agent_response":"On its way.","evaluation_metadata":{"order_found":true,"tone":"friendly"}}]}],"x-near-misses":[{"breaks":"/turns/0/evaluation_metadata","value":{"session_id":"t-1","turns":[{"user_input":"a","agent_response":"b","evaluation_metadata":"tone: friendly"}]}},{"breaks":"/turns","value":{"session_id":"t-1","turns":[]}},{"breaks":"/session_id","value":{"turns":[{"user_input":"a","agent_response":"b"}]}}]};
const schema76 = {"title":"SeedTurn","type":"object","required":["user_input","agent_response"],"additionalProperties":false,"properties":{"user_input":{"type":"string"},"user_reason":{"type":"string","description":"Why the simulated user said it."},"agent_response":{"type":"string"},"evaluation_metadata":{"type":"object","description":"What the sandbox hinted at in the turn (spec 2.8): read by evals of kind evaluation_metadata."}}};
const schema77 = {"title":"SeedOutcome","type":"object","required":["outcome"],"additionalProperties":false,"properties":{"eval":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"Id of an eval of the document or of the owner; gives name, category and type."},"eval_name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Wanted when eval is left out."},"eval_category":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"general when left out."},"eval_type":{"type":"string","enum":["session_level","turn_level"],"description":"session_level when left out."},"outcome":{"type":"string","enum":["pass","fail","error"]},"required":{"type":"boolean","description":"False never makes the session fail; as its eval has it when left out, else true."},"reasoning":{"type":"string"}}};
const pattern53 = new RegExp("^https?://[^\\s/?#@]+(/[^\\s?#]*)?$", "u");
const pattern54 = new RegExp("^[\\x21-\\x7e]{1,4096}$", "u");
const pattern67 = new RegExp("^[^\\r\\n]{1,256}$", "u");

function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="seed-document.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func2.call(schema70.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.keys !== undefined){
let data0 = data.keys;
if(Array.isArray(data0)){
if(data0.length > 1000){
const err1 = {instancePath:instancePath+"/keys",schemaPath:"#/properties/keys/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
if(!((key1 === "key") || (key1 === "owner"))){
const err2 = {instancePath:instancePath+"/keys/" + i0,schemaPath:"key-grant.schema.json/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data1.key !== undefined){
let data2 = data1.key;
if(typeof data2 === "string"){
if(!pattern5.test(data2)){
const err3 = {instancePath:instancePath+"/keys/" + i0+"/key",schemaPath:"key-grant.schema.json/properties/key/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]{8,256}$"},message:"must match pattern \""+"^[\\x21-\\x7e]{8,256}$"+"\""};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/keys/" + i0+"/key",schemaPath:"key-grant.schema.json/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.owner !== undefined){
let data3 = data1.owner;
if(typeof data3 === "string"){
if(!pattern3.test(data3)){
const err5 = {instancePath:instancePath+"/keys/" + i0+"/owner",schemaPath:"key-grant.schema.json/properties/owner/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/keys/" + i0+"/owner",schemaPath:"key-grant.schema.json/properties/owner/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/keys/" + i0,schemaPath:"key-grant.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/keys",schemaPath:"#/properties/keys/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.agents !== undefined){
let data4 = data.agents;
if(Array.isArray(data4)){
if(data4.length > 1000){
const err9 = {instancePath:instancePath+"/agents",schemaPath:"#/properties/agents/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
let data5 = data4[i1];
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(data5.name === undefined){
const err10 = {instancePath:instancePath+"/agents/" + i1,schemaPath:"#/properties/agents/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
for(const key2 in data5){
if(!((((key2 === "id") || (key2 === "name")) || (key2 === "url")) || (key2 === "api_key"))){
const err11 = {instancePath:instancePath+"/agents/" + i1,schemaPath:"#/properties/agents/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data5.id !== undefined){
let data6 = data5.id;
if(typeof data6 === "string"){
if(!pattern8.test(data6)){
const err12 = {instancePath:instancePath+"/agents/" + i1+"/id",schemaPath:"#/properties/agents/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/agents/" + i1+"/id",schemaPath:"#/properties/agents/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data5.name !== undefined){
let data7 = data5.name;
if(typeof data7 === "string"){
if(!pattern3.test(data7)){
const err14 = {instancePath:instancePath+"/agents/" + i1+"/name",schemaPath:"#/properties/agents/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/agents/" + i1+"/name",schemaPath:"#/properties/agents/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data5.url !== undefined){
let data8 = data5.url;
if(typeof data8 === "string"){
if(!pattern53.test(data8)){
const err16 = {instancePath:instancePath+"/agents/" + i1+"/url",schemaPath:"#/properties/agents/items/properties/url/pattern",keyword:"pattern",params:{pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"},message:"must match pattern \""+"^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"+"\""};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/agents/" + i1+"/url",schemaPath:"#/properties/agents/items/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data5.api_key !== undefined){
let data9 = data5.api_key;
if(typeof data9 === "string"){
if(!pattern54.test(data9)){
const err18 = {instancePath:instancePath+"/agents/" + i1+"/api_key",schemaPath:"#/properties/agents/items/properties/api_key/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]{1,4096}$"},message:"must match pattern \""+"^[\\x21-\\x7e]{1,4096}$"+"\""};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/agents/" + i1+"/api_key",schemaPath:"#/properties/agents/items/properties/api_key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/agents/" + i1,schemaPath:"#/properties/agents/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/agents",schemaPath:"#/properties/agents/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.evals !== undefined){
let data10 = data.evals;
if(Array.isArray(data10)){
if(data10.length > 1000){
const err22 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
let data11 = data10[i2];
const _errs34 = errors;
let valid12 = true;
const _errs35 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing0;
if((data11.kind === undefined) && (missing0 = "kind")){
const err23 = {};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("contains" !== data11.kind){
const err24 = {};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
}
var _valid0 = _errs35 === errors;
errors = _errs34;
if(vErrors !== null){
if(_errs34){
vErrors.length = _errs34;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs37 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err25 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/0/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(data11.params !== undefined){
let data13 = data11.params;
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(data13.text === undefined){
const err26 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/required",keyword:"required",params:{missingProperty: "text"},message:"must have required property '"+"text"+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
for(const key3 in data13){
if(!(((key3 === "text") || (key3 === "in")) || (key3 === "case_sensitive"))){
const err27 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data13.text !== undefined){
if(typeof data13.text !== "string"){
const err28 = {instancePath:instancePath+"/evals/" + i2+"/params/text",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data13.in !== undefined){
let data15 = data13.in;
if(typeof data15 !== "string"){
const err29 = {instancePath:instancePath+"/evals/" + i2+"/params/in",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/properties/in/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(!(((data15 === "agent") || (data15 === "user")) || (data15 === "any"))){
const err30 = {instancePath:instancePath+"/evals/" + i2+"/params/in",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/properties/in/enum",keyword:"enum",params:{allowedValues: schema26.allOf[0].then.properties.params.properties.in.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data13.case_sensitive !== undefined){
if(typeof data13.case_sensitive !== "boolean"){
const err31 = {instancePath:instancePath+"/evals/" + i2+"/params/case_sensitive",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/properties/case_sensitive/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
else {
const err32 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/0/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
var _valid0 = _errs37 === errors;
valid12 = _valid0;
}
if(!valid12){
const err33 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
const _errs48 = errors;
let valid16 = true;
const _errs49 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing1;
if((data11.kind === undefined) && (missing1 = "kind")){
const err34 = {};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("regex" !== data11.kind){
const err35 = {};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
}
var _valid1 = _errs49 === errors;
errors = _errs48;
if(vErrors !== null){
if(_errs48){
vErrors.length = _errs48;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs51 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err36 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/1/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data11.params !== undefined){
let data18 = data11.params;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.pattern === undefined){
const err37 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/required",keyword:"required",params:{missingProperty: "pattern"},message:"must have required property '"+"pattern"+"'"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
for(const key4 in data18){
if(!(((key4 === "pattern") || (key4 === "flags")) || (key4 === "in"))){
const err38 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data18.pattern !== undefined){
if(typeof data18.pattern !== "string"){
const err39 = {instancePath:instancePath+"/evals/" + i2+"/params/pattern",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/properties/pattern/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data18.flags !== undefined){
let data20 = data18.flags;
if(typeof data20 === "string"){
if(!pattern0.test(data20)){
const err40 = {instancePath:instancePath+"/evals/" + i2+"/params/flags",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/properties/flags/pattern",keyword:"pattern",params:{pattern: "^[imsu]*$"},message:"must match pattern \""+"^[imsu]*$"+"\""};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
else {
const err41 = {instancePath:instancePath+"/evals/" + i2+"/params/flags",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/properties/flags/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data18.in !== undefined){
let data21 = data18.in;
if(typeof data21 !== "string"){
const err42 = {instancePath:instancePath+"/evals/" + i2+"/params/in",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/properties/in/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
if(!(((data21 === "agent") || (data21 === "user")) || (data21 === "any"))){
const err43 = {instancePath:instancePath+"/evals/" + i2+"/params/in",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/properties/in/enum",keyword:"enum",params:{allowedValues: schema26.allOf[1].then.properties.params.properties.in.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
}
else {
const err44 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/1/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
}
var _valid1 = _errs51 === errors;
valid16 = _valid1;
}
if(!valid16){
const err45 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
const _errs62 = errors;
let valid20 = true;
const _errs63 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing2;
if((data11.kind === undefined) && (missing2 = "kind")){
const err46 = {};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("tool_called" !== data11.kind){
const err47 = {};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
}
var _valid2 = _errs63 === errors;
errors = _errs62;
if(vErrors !== null){
if(_errs62){
vErrors.length = _errs62;
}
else {
vErrors = null;
}
}
if(_valid2){
const _errs65 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err48 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/2/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(data11.params !== undefined){
let data23 = data11.params;
if(data23 && typeof data23 == "object" && !Array.isArray(data23)){
if(data23.name === undefined){
const err49 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/2/then/properties/params/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
for(const key5 in data23){
if(!(key5 === "name")){
const err50 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/2/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data23.name !== undefined){
if(typeof data23.name !== "string"){
const err51 = {instancePath:instancePath+"/evals/" + i2+"/params/name",schemaPath:"eval-definition.schema.json/allOf/2/then/properties/params/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
else {
const err52 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/2/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
}
var _valid2 = _errs65 === errors;
valid20 = _valid2;
}
if(!valid20){
const err53 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
const _errs72 = errors;
let valid24 = true;
const _errs73 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing3;
if((data11.kind === undefined) && (missing3 = "kind")){
const err54 = {};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("tool_args" !== data11.kind){
const err55 = {};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
}
}
var _valid3 = _errs73 === errors;
errors = _errs72;
if(vErrors !== null){
if(_errs72){
vErrors.length = _errs72;
}
else {
vErrors = null;
}
}
if(_valid3){
const _errs75 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err56 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/3/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
if(data11.params !== undefined){
let data26 = data11.params;
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
if(data26.name === undefined){
const err57 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
if(data26.arguments === undefined){
const err58 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/required",keyword:"required",params:{missingProperty: "arguments"},message:"must have required property '"+"arguments"+"'"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
for(const key6 in data26){
if(!((key6 === "name") || (key6 === "arguments"))){
const err59 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data26.name !== undefined){
if(typeof data26.name !== "string"){
const err60 = {instancePath:instancePath+"/evals/" + i2+"/params/name",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data26.arguments !== undefined){
let data28 = data26.arguments;
if(!(data28 && typeof data28 == "object" && !Array.isArray(data28))){
const err61 = {instancePath:instancePath+"/evals/" + i2+"/params/arguments",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/properties/arguments/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
}
else {
const err62 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/3/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
}
var _valid3 = _errs75 === errors;
valid24 = _valid3;
}
if(!valid24){
const err63 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/3/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
const _errs84 = errors;
let valid28 = true;
const _errs85 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing4;
if((data11.kind === undefined) && (missing4 = "kind")){
const err64 = {};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("tool_order" !== data11.kind){
const err65 = {};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
}
}
var _valid4 = _errs85 === errors;
errors = _errs84;
if(vErrors !== null){
if(_errs84){
vErrors.length = _errs84;
}
else {
vErrors = null;
}
}
if(_valid4){
const _errs87 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err66 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/4/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(data11.params !== undefined){
let data30 = data11.params;
if(data30 && typeof data30 == "object" && !Array.isArray(data30)){
if(data30.names === undefined){
const err67 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/required",keyword:"required",params:{missingProperty: "names"},message:"must have required property '"+"names"+"'"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
for(const key7 in data30){
if(!(key7 === "names")){
const err68 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data30.names !== undefined){
let data31 = data30.names;
if(Array.isArray(data31)){
if(data31.length < 1){
const err69 = {instancePath:instancePath+"/evals/" + i2+"/params/names",schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/properties/names/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
const len3 = data31.length;
for(let i3=0; i3<len3; i3++){
if(typeof data31[i3] !== "string"){
const err70 = {instancePath:instancePath+"/evals/" + i2+"/params/names/" + i3,schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/properties/names/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
}
else {
const err71 = {instancePath:instancePath+"/evals/" + i2+"/params/names",schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/properties/names/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
}
else {
const err72 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/4/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
}
var _valid4 = _errs87 === errors;
valid28 = _valid4;
}
if(!valid28){
const err73 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/4/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
const _errs96 = errors;
let valid34 = true;
const _errs97 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing5;
if((data11.kind === undefined) && (missing5 = "kind")){
const err74 = {};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("max_turns" !== data11.kind){
const err75 = {};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
}
}
var _valid5 = _errs97 === errors;
errors = _errs96;
if(vErrors !== null){
if(_errs96){
vErrors.length = _errs96;
}
else {
vErrors = null;
}
}
if(_valid5){
const _errs99 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err76 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/5/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
if(data11.params !== undefined){
let data34 = data11.params;
if(data34 && typeof data34 == "object" && !Array.isArray(data34)){
if(data34.max === undefined){
const err77 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/5/then/properties/params/required",keyword:"required",params:{missingProperty: "max"},message:"must have required property '"+"max"+"'"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
for(const key8 in data34){
if(!(key8 === "max")){
const err78 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/5/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
if(data34.max !== undefined){
let data35 = data34.max;
if(!(((typeof data35 == "number") && (!(data35 % 1) && !isNaN(data35))) && (isFinite(data35)))){
const err79 = {instancePath:instancePath+"/evals/" + i2+"/params/max",schemaPath:"eval-definition.schema.json/allOf/5/then/properties/params/properties/max/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
if((typeof data35 == "number") && (isFinite(data35))){
if(data35 < 0 || isNaN(data35)){
const err80 = {instancePath:instancePath+"/evals/" + i2+"/params/max",schemaPath:"eval-definition.schema.json/allOf/5/then/properties/params/properties/max/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
}
}
else {
const err81 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/5/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
}
var _valid5 = _errs99 === errors;
valid34 = _valid5;
}
if(!valid34){
const err82 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/5/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
const _errs106 = errors;
let valid38 = true;
const _errs107 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing6;
if((data11.kind === undefined) && (missing6 = "kind")){
const err83 = {};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("max_latency" !== data11.kind){
const err84 = {};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
}
}
var _valid6 = _errs107 === errors;
errors = _errs106;
if(vErrors !== null){
if(_errs106){
vErrors.length = _errs106;
}
else {
vErrors = null;
}
}
if(_valid6){
const _errs109 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err85 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/6/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
if(data11.params !== undefined){
let data37 = data11.params;
if(data37 && typeof data37 == "object" && !Array.isArray(data37)){
if(data37.ms === undefined){
const err86 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/6/then/properties/params/required",keyword:"required",params:{missingProperty: "ms"},message:"must have required property '"+"ms"+"'"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
for(const key9 in data37){
if(!(key9 === "ms")){
const err87 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/6/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data37.ms !== undefined){
let data38 = data37.ms;
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 < 0 || isNaN(data38)){
const err88 = {instancePath:instancePath+"/evals/" + i2+"/params/ms",schemaPath:"eval-definition.schema.json/allOf/6/then/properties/params/properties/ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
else {
const err89 = {instancePath:instancePath+"/evals/" + i2+"/params/ms",schemaPath:"eval-definition.schema.json/allOf/6/then/properties/params/properties/ms/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
}
else {
const err90 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/6/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
}
var _valid6 = _errs109 === errors;
valid38 = _valid6;
}
if(!valid38){
const err91 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/6/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
const _errs116 = errors;
let valid42 = true;
const _errs117 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing7;
if((data11.kind === undefined) && (missing7 = "kind")){
const err92 = {};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("json_path" !== data11.kind){
const err93 = {};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
}
}
var _valid7 = _errs117 === errors;
errors = _errs116;
if(vErrors !== null){
if(_errs116){
vErrors.length = _errs116;
}
else {
vErrors = null;
}
}
if(_valid7){
const _errs119 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err94 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/7/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
if(data11.params !== undefined){
let data40 = data11.params;
if(data40 && typeof data40 == "object" && !Array.isArray(data40)){
if(data40.path === undefined){
const err95 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/7/then/properties/params/required",keyword:"required",params:{missingProperty: "path"},message:"must have required property '"+"path"+"'"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
if(data40.equals === undefined){
const err96 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/7/then/properties/params/required",keyword:"required",params:{missingProperty: "equals"},message:"must have required property '"+"equals"+"'"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
for(const key10 in data40){
if(!((key10 === "path") || (key10 === "equals"))){
const err97 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/7/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
if(data40.path !== undefined){
if(typeof data40.path !== "string"){
const err98 = {instancePath:instancePath+"/evals/" + i2+"/params/path",schemaPath:"eval-definition.schema.json/allOf/7/then/properties/params/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
}
else {
const err99 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/7/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
}
var _valid7 = _errs119 === errors;
valid42 = _valid7;
}
if(!valid42){
const err100 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/7/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
const _errs126 = errors;
let valid46 = true;
const _errs127 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing8;
if((data11.kind === undefined) && (missing8 = "kind")){
const err101 = {};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("evaluation_metadata" !== data11.kind){
const err102 = {};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
}
}
var _valid8 = _errs127 === errors;
errors = _errs126;
if(vErrors !== null){
if(_errs126){
vErrors.length = _errs126;
}
else {
vErrors = null;
}
}
if(_valid8){
const _errs129 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err103 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/8/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
if(data11.params !== undefined){
let data43 = data11.params;
if(data43 && typeof data43 == "object" && !Array.isArray(data43)){
if(data43.key === undefined){
const err104 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/8/then/properties/params/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
if(data43.equals === undefined){
const err105 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/8/then/properties/params/required",keyword:"required",params:{missingProperty: "equals"},message:"must have required property '"+"equals"+"'"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
for(const key11 in data43){
if(!((key11 === "key") || (key11 === "equals"))){
const err106 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/8/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key11},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data43.key !== undefined){
if(typeof data43.key !== "string"){
const err107 = {instancePath:instancePath+"/evals/" + i2+"/params/key",schemaPath:"eval-definition.schema.json/allOf/8/then/properties/params/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
}
else {
const err108 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/8/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
}
var _valid8 = _errs129 === errors;
valid46 = _valid8;
}
if(!valid46){
const err109 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/8/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
const _errs136 = errors;
let valid50 = true;
const _errs137 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing9;
if((data11.kind === undefined) && (missing9 = "kind")){
const err110 = {};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
else {
if(data11.kind !== undefined){
if("judge" !== data11.kind){
const err111 = {};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
}
}
var _valid9 = _errs137 === errors;
errors = _errs136;
if(vErrors !== null){
if(_errs136){
vErrors.length = _errs136;
}
else {
vErrors = null;
}
}
if(_valid9){
const _errs139 = errors;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.params === undefined){
const err112 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/9/then/required",keyword:"required",params:{missingProperty: "params"},message:"must have required property '"+"params"+"'"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
if(data11.params !== undefined){
let data46 = data11.params;
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
if(data46.criteria === undefined){
const err113 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/required",keyword:"required",params:{missingProperty: "criteria"},message:"must have required property '"+"criteria"+"'"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
for(const key12 in data46){
if(!((key12 === "criteria") || (key12 === "model"))){
const err114 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key12},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
if(data46.criteria !== undefined){
let data47 = data46.criteria;
if(typeof data47 === "string"){
if(!pattern1.test(data47)){
const err115 = {instancePath:instancePath+"/evals/" + i2+"/params/criteria",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/properties/criteria/pattern",keyword:"pattern",params:{pattern: "\\S"},message:"must match pattern \""+"\\S"+"\""};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
else {
const err116 = {instancePath:instancePath+"/evals/" + i2+"/params/criteria",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/properties/criteria/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
}
if(data46.model !== undefined){
if(typeof data46.model !== "string"){
const err117 = {instancePath:instancePath+"/evals/" + i2+"/params/model",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
}
else {
const err118 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/allOf/9/then/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
}
var _valid9 = _errs139 === errors;
valid50 = _valid9;
}
if(!valid50){
const err119 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/allOf/9/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.id === undefined){
const err120 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
if(data11.name === undefined){
const err121 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
if(data11.kind === undefined){
const err122 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
for(const key13 in data11){
if(!(((((((key13 === "id") || (key13 === "name")) || (key13 === "category")) || (key13 === "type")) || (key13 === "kind")) || (key13 === "params")) || (key13 === "required"))){
const err123 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key13},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
if(data11.id !== undefined){
let data49 = data11.id;
if(typeof data49 === "string"){
if(!pattern2.test(data49)){
const err124 = {instancePath:instancePath+"/evals/" + i2+"/id",schemaPath:"eval-definition.schema.json/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
}
else {
const err125 = {instancePath:instancePath+"/evals/" + i2+"/id",schemaPath:"eval-definition.schema.json/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
if(data11.name !== undefined){
let data50 = data11.name;
if(typeof data50 === "string"){
if(!pattern3.test(data50)){
const err126 = {instancePath:instancePath+"/evals/" + i2+"/name",schemaPath:"eval-definition.schema.json/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
else {
const err127 = {instancePath:instancePath+"/evals/" + i2+"/name",schemaPath:"eval-definition.schema.json/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
}
if(data11.category !== undefined){
let data51 = data11.category;
if(typeof data51 === "string"){
if(!pattern4.test(data51)){
const err128 = {instancePath:instancePath+"/evals/" + i2+"/category",schemaPath:"eval-definition.schema.json/properties/category/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
else {
const err129 = {instancePath:instancePath+"/evals/" + i2+"/category",schemaPath:"eval-definition.schema.json/properties/category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
if(data11.type !== undefined){
let data52 = data11.type;
if(typeof data52 !== "string"){
const err130 = {instancePath:instancePath+"/evals/" + i2+"/type",schemaPath:"eval-definition.schema.json/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
if(!((data52 === "session_level") || (data52 === "turn_level"))){
const err131 = {instancePath:instancePath+"/evals/" + i2+"/type",schemaPath:"eval-definition.schema.json/properties/type/enum",keyword:"enum",params:{allowedValues: schema26.properties.type.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data11.kind !== undefined){
let data53 = data11.kind;
if(typeof data53 !== "string"){
const err132 = {instancePath:instancePath+"/evals/" + i2+"/kind",schemaPath:"eval-definition.schema.json/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
if(!((((((((((data53 === "contains") || (data53 === "regex")) || (data53 === "tool_called")) || (data53 === "tool_args")) || (data53 === "tool_order")) || (data53 === "max_turns")) || (data53 === "max_latency")) || (data53 === "json_path")) || (data53 === "evaluation_metadata")) || (data53 === "judge"))){
const err133 = {instancePath:instancePath+"/evals/" + i2+"/kind",schemaPath:"eval-definition.schema.json/properties/kind/enum",keyword:"enum",params:{allowedValues: schema26.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data11.params !== undefined){
let data54 = data11.params;
if(!(data54 && typeof data54 == "object" && !Array.isArray(data54))){
const err134 = {instancePath:instancePath+"/evals/" + i2+"/params",schemaPath:"eval-definition.schema.json/properties/params/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
}
if(data11.required !== undefined){
if(typeof data11.required !== "boolean"){
const err135 = {instancePath:instancePath+"/evals/" + i2+"/required",schemaPath:"eval-definition.schema.json/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
}
}
else {
const err136 = {instancePath:instancePath+"/evals/" + i2,schemaPath:"eval-definition.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
}
else {
const err137 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
if(data.settings !== undefined){
let data56 = data.settings;
if(data56 && typeof data56 == "object" && !Array.isArray(data56)){
for(const key14 in data56){
if(!((key14 === "evals") || (key14 === "run_name"))){
const err138 = {instancePath:instancePath+"/settings",schemaPath:"live-settings.schema.json/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key14},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
if(data56.evals !== undefined){
let data57 = data56.evals;
if(Array.isArray(data57)){
if(data57.length > 5){
const err139 = {instancePath:instancePath+"/settings/evals",schemaPath:"live-settings.schema.json/properties/evals/maxItems",keyword:"maxItems",params:{limit: 5},message:"must NOT have more than 5 items"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
const len4 = data57.length;
for(let i4=0; i4<len4; i4++){
if(typeof data57[i4] !== "string"){
const err140 = {instancePath:instancePath+"/settings/evals/" + i4,schemaPath:"live-settings.schema.json/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
}
}
else {
const err141 = {instancePath:instancePath+"/settings/evals",schemaPath:"live-settings.schema.json/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
if(data56.run_name !== undefined){
let data59 = data56.run_name;
if(typeof data59 === "string"){
if(!pattern3.test(data59)){
const err142 = {instancePath:instancePath+"/settings/run_name",schemaPath:"live-settings.schema.json/properties/run_name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
else {
const err143 = {instancePath:instancePath+"/settings/run_name",schemaPath:"live-settings.schema.json/properties/run_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
}
else {
const err144 = {instancePath:instancePath+"/settings",schemaPath:"live-settings.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
if(data.personas !== undefined){
let data60 = data.personas;
if(Array.isArray(data60)){
if(data60.length > 1000){
const err145 = {instancePath:instancePath+"/personas",schemaPath:"#/properties/personas/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
const len5 = data60.length;
for(let i5=0; i5<len5; i5++){
let data61 = data60[i5];
if(data61 && typeof data61 == "object" && !Array.isArray(data61)){
if(data61.id === undefined){
const err146 = {instancePath:instancePath+"/personas/" + i5,schemaPath:"persona.schema.json/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
if(data61.name === undefined){
const err147 = {instancePath:instancePath+"/personas/" + i5,schemaPath:"persona.schema.json/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
for(const key15 in data61){
if(!((((((((key15 === "id") || (key15 === "name")) || (key15 === "characteristics")) || (key15 === "language")) || (key15 === "verbosity")) || (key15 === "patience_turns")) || (key15 === "tags")) || (key15 === "voice"))){
const err148 = {instancePath:instancePath+"/personas/" + i5,schemaPath:"persona.schema.json/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key15},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
}
if(data61.id !== undefined){
let data62 = data61.id;
if(typeof data62 === "string"){
if(!pattern8.test(data62)){
const err149 = {instancePath:instancePath+"/personas/" + i5+"/id",schemaPath:"persona.schema.json/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
}
else {
const err150 = {instancePath:instancePath+"/personas/" + i5+"/id",schemaPath:"persona.schema.json/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
if(data61.name !== undefined){
let data63 = data61.name;
if(typeof data63 === "string"){
if(!pattern3.test(data63)){
const err151 = {instancePath:instancePath+"/personas/" + i5+"/name",schemaPath:"persona.schema.json/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
}
else {
const err152 = {instancePath:instancePath+"/personas/" + i5+"/name",schemaPath:"persona.schema.json/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
}
if(data61.characteristics !== undefined){
let data64 = data61.characteristics;
if(typeof data64 === "string"){
if(!pattern10.test(data64)){
const err153 = {instancePath:instancePath+"/personas/" + i5+"/characteristics",schemaPath:"persona.schema.json/properties/characteristics/pattern",keyword:"pattern",params:{pattern: "^[\\s\\S]{1,10000}$"},message:"must match pattern \""+"^[\\s\\S]{1,10000}$"+"\""};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
}
else {
const err154 = {instancePath:instancePath+"/personas/" + i5+"/characteristics",schemaPath:"persona.schema.json/properties/characteristics/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
}
if(data61.language !== undefined){
let data65 = data61.language;
if(typeof data65 === "string"){
if(!pattern11.test(data65)){
const err155 = {instancePath:instancePath+"/personas/" + i5+"/language",schemaPath:"persona.schema.json/properties/language/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$"},message:"must match pattern \""+"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$"+"\""};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
}
else {
const err156 = {instancePath:instancePath+"/personas/" + i5+"/language",schemaPath:"persona.schema.json/properties/language/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
}
if(data61.verbosity !== undefined){
let data66 = data61.verbosity;
if(typeof data66 !== "string"){
const err157 = {instancePath:instancePath+"/personas/" + i5+"/verbosity",schemaPath:"persona.schema.json/properties/verbosity/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
if(!(((data66 === "minimal") || (data66 === "standard")) || (data66 === "chatty"))){
const err158 = {instancePath:instancePath+"/personas/" + i5+"/verbosity",schemaPath:"persona.schema.json/properties/verbosity/enum",keyword:"enum",params:{allowedValues: schema58.properties.verbosity.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
}
if(data61.patience_turns !== undefined){
let data67 = data61.patience_turns;
if(!(((typeof data67 == "number") && (!(data67 % 1) && !isNaN(data67))) && (isFinite(data67)))){
const err159 = {instancePath:instancePath+"/personas/" + i5+"/patience_turns",schemaPath:"persona.schema.json/properties/patience_turns/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
if((typeof data67 == "number") && (isFinite(data67))){
if(data67 > 1000 || isNaN(data67)){
const err160 = {instancePath:instancePath+"/personas/" + i5+"/patience_turns",schemaPath:"persona.schema.json/properties/patience_turns/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
if(data67 < 1 || isNaN(data67)){
const err161 = {instancePath:instancePath+"/personas/" + i5+"/patience_turns",schemaPath:"persona.schema.json/properties/patience_turns/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
}
}
if(data61.tags !== undefined){
let data68 = data61.tags;
if(Array.isArray(data68)){
if(data68.length > 50){
const err162 = {instancePath:instancePath+"/personas/" + i5+"/tags",schemaPath:"persona.schema.json/properties/tags/maxItems",keyword:"maxItems",params:{limit: 50},message:"must NOT have more than 50 items"};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
const len6 = data68.length;
for(let i6=0; i6<len6; i6++){
let data69 = data68[i6];
if(typeof data69 === "string"){
if(!pattern4.test(data69)){
const err163 = {instancePath:instancePath+"/personas/" + i5+"/tags/" + i6,schemaPath:"persona.schema.json/properties/tags/items/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,100}$"},message:"must match pattern \""+"^[^\\r\\n]{1,100}$"+"\""};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
}
else {
const err164 = {instancePath:instancePath+"/personas/" + i5+"/tags/" + i6,schemaPath:"persona.schema.json/properties/tags/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
}
}
else {
const err165 = {instancePath:instancePath+"/personas/" + i5+"/tags",schemaPath:"persona.schema.json/properties/tags/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
}
if(data61.voice !== undefined){
let data70 = data61.voice;
if(data70 && typeof data70 == "object" && !Array.isArray(data70)){
for(const key16 in data70){
if(!(((key16 === "name") || (key16 === "speed")) || (key16 === "interruptions"))){
const err166 = {instancePath:instancePath+"/personas/" + i5+"/voice",schemaPath:"persona.schema.json/properties/voice/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key16},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
}
if(data70.name !== undefined){
let data71 = data70.name;
if(typeof data71 === "string"){
if(!pattern3.test(data71)){
const err167 = {instancePath:instancePath+"/personas/" + i5+"/voice/name",schemaPath:"persona.schema.json/properties/voice/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
}
else {
const err168 = {instancePath:instancePath+"/personas/" + i5+"/voice/name",schemaPath:"persona.schema.json/properties/voice/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
}
if(data70.speed !== undefined){
let data72 = data70.speed;
if((typeof data72 == "number") && (isFinite(data72))){
if(data72 > 2 || isNaN(data72)){
const err169 = {instancePath:instancePath+"/personas/" + i5+"/voice/speed",schemaPath:"persona.schema.json/properties/voice/properties/speed/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2},message:"must be <= 2"};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
if(data72 < 0.5 || isNaN(data72)){
const err170 = {instancePath:instancePath+"/personas/" + i5+"/voice/speed",schemaPath:"persona.schema.json/properties/voice/properties/speed/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.5},message:"must be >= 0.5"};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
}
else {
const err171 = {instancePath:instancePath+"/personas/" + i5+"/voice/speed",schemaPath:"persona.schema.json/properties/voice/properties/speed/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
}
if(data70.interruptions !== undefined){
let data73 = data70.interruptions;
if(typeof data73 !== "string"){
const err172 = {instancePath:instancePath+"/personas/" + i5+"/voice/interruptions",schemaPath:"persona.schema.json/properties/voice/properties/interruptions/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
if(!(((data73 === "none") || (data73 === "rare")) || (data73 === "frequent"))){
const err173 = {instancePath:instancePath+"/personas/" + i5+"/voice/interruptions",schemaPath:"persona.schema.json/properties/voice/properties/interruptions/enum",keyword:"enum",params:{allowedValues: schema58.properties.voice.properties.interruptions.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
}
}
else {
const err174 = {instancePath:instancePath+"/personas/" + i5+"/voice",schemaPath:"persona.schema.json/properties/voice/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
}
}
else {
const err175 = {instancePath:instancePath+"/personas/" + i5,schemaPath:"persona.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
}
}
else {
const err176 = {instancePath:instancePath+"/personas",schemaPath:"#/properties/personas/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
}
if(data.scenarios !== undefined){
let data74 = data.scenarios;
if(Array.isArray(data74)){
if(data74.length > 1000){
const err177 = {instancePath:instancePath+"/scenarios",schemaPath:"#/properties/scenarios/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
const len7 = data74.length;
for(let i7=0; i7<len7; i7++){
if(!(validate42(data74[i7], {instancePath:instancePath+"/scenarios/" + i7,parentData:data74,parentDataProperty:i7,rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
}
else {
const err178 = {instancePath:instancePath+"/scenarios",schemaPath:"#/properties/scenarios/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
}
if(data.transcripts !== undefined){
let data76 = data.transcripts;
if(Array.isArray(data76)){
if(data76.length > 100000){
const err179 = {instancePath:instancePath+"/transcripts",schemaPath:"#/properties/transcripts/maxItems",keyword:"maxItems",params:{limit: 100000},message:"must NOT have more than 100000 items"};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
const len8 = data76.length;
for(let i8=0; i8<len8; i8++){
let data77 = data76[i8];
if(data77 && typeof data77 == "object" && !Array.isArray(data77)){
if(data77.session_id === undefined){
const err180 = {instancePath:instancePath+"/transcripts/" + i8,schemaPath:"transcript-upload.schema.json/required",keyword:"required",params:{missingProperty: "session_id"},message:"must have required property '"+"session_id"+"'"};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
if(data77.turns === undefined){
const err181 = {instancePath:instancePath+"/transcripts/" + i8,schemaPath:"transcript-upload.schema.json/required",keyword:"required",params:{missingProperty: "turns"},message:"must have required property '"+"turns"+"'"};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
for(const key17 in data77){
if(!((((((key17 === "session_id") || (key17 === "started_at")) || (key17 === "turns")) || (key17 === "metadata")) || (key17 === "run")) || (key17 === "evals"))){
const err182 = {instancePath:instancePath+"/transcripts/" + i8,schemaPath:"transcript-upload.schema.json/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key17},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
}
if(data77.session_id !== undefined){
let data78 = data77.session_id;
if(typeof data78 === "string"){
if(!pattern67.test(data78)){
const err183 = {instancePath:instancePath+"/transcripts/" + i8+"/session_id",schemaPath:"transcript-upload.schema.json/properties/session_id/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,256}$"},message:"must match pattern \""+"^[^\\r\\n]{1,256}$"+"\""};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
}
else {
const err184 = {instancePath:instancePath+"/transcripts/" + i8+"/session_id",schemaPath:"transcript-upload.schema.json/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
}
if(data77.started_at !== undefined){
let data79 = data77.started_at;
if(typeof data79 === "string"){
if(!(formats0.test(data79))){
const err185 = {instancePath:instancePath+"/transcripts/" + i8+"/started_at",schemaPath:"transcript-upload.schema.json/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
}
else {
const err186 = {instancePath:instancePath+"/transcripts/" + i8+"/started_at",schemaPath:"transcript-upload.schema.json/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
}
if(data77.turns !== undefined){
let data80 = data77.turns;
if(Array.isArray(data80)){
if(data80.length > 10000){
const err187 = {instancePath:instancePath+"/transcripts/" + i8+"/turns",schemaPath:"transcript-upload.schema.json/properties/turns/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
if(data80.length < 1){
const err188 = {instancePath:instancePath+"/transcripts/" + i8+"/turns",schemaPath:"transcript-upload.schema.json/properties/turns/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
const len9 = data80.length;
for(let i9=0; i9<len9; i9++){
let data81 = data80[i9];
if(data81 && typeof data81 == "object" && !Array.isArray(data81)){
if(data81.user_input === undefined){
const err189 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9,schemaPath:"transcript-upload.schema.json/properties/turns/items/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
if(data81.agent_response === undefined){
const err190 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9,schemaPath:"transcript-upload.schema.json/properties/turns/items/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
for(const key18 in data81){
if(!(((key18 === "user_input") || (key18 === "agent_response")) || (key18 === "evaluation_metadata"))){
const err191 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9,schemaPath:"transcript-upload.schema.json/properties/turns/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key18},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
}
if(data81.user_input !== undefined){
if(typeof data81.user_input !== "string"){
const err192 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9+"/user_input",schemaPath:"transcript-upload.schema.json/properties/turns/items/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err192];
}
else {
vErrors.push(err192);
}
errors++;
}
}
if(data81.agent_response !== undefined){
if(typeof data81.agent_response !== "string"){
const err193 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9+"/agent_response",schemaPath:"transcript-upload.schema.json/properties/turns/items/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err193];
}
else {
vErrors.push(err193);
}
errors++;
}
}
if(data81.evaluation_metadata !== undefined){
let data84 = data81.evaluation_metadata;
if(!(data84 && typeof data84 == "object" && !Array.isArray(data84))){
const err194 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9+"/evaluation_metadata",schemaPath:"transcript-upload.schema.json/properties/turns/items/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err194];
}
else {
vErrors.push(err194);
}
errors++;
}
}
}
else {
const err195 = {instancePath:instancePath+"/transcripts/" + i8+"/turns/" + i9,schemaPath:"transcript-upload.schema.json/properties/turns/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err195];
}
else {
vErrors.push(err195);
}
errors++;
}
}
}
else {
const err196 = {instancePath:instancePath+"/transcripts/" + i8+"/turns",schemaPath:"transcript-upload.schema.json/properties/turns/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err196];
}
else {
vErrors.push(err196);
}
errors++;
}
}
if(data77.metadata !== undefined){
let data85 = data77.metadata;
if(!(data85 && typeof data85 == "object" && !Array.isArray(data85))){
const err197 = {instancePath:instancePath+"/transcripts/" + i8+"/metadata",schemaPath:"transcript-upload.schema.json/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err197];
}
else {
vErrors.push(err197);
}
errors++;
}
}
if(data77.run !== undefined){
let data86 = data77.run;
if(typeof data86 === "string"){
if(!pattern3.test(data86)){
const err198 = {instancePath:instancePath+"/transcripts/" + i8+"/run",schemaPath:"transcript-upload.schema.json/properties/run/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err198];
}
else {
vErrors.push(err198);
}
errors++;
}
}
else {
const err199 = {instancePath:instancePath+"/transcripts/" + i8+"/run",schemaPath:"transcript-upload.schema.json/properties/run/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err199];
}
else {
vErrors.push(err199);
}
errors++;
}
}
if(data77.evals !== undefined){
let data87 = data77.evals;
if(Array.isArray(data87)){
const len10 = data87.length;
for(let i10=0; i10<len10; i10++){
if(typeof data87[i10] !== "string"){
const err200 = {instancePath:instancePath+"/transcripts/" + i8+"/evals/" + i10,schemaPath:"transcript-upload.schema.json/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err200];
}
else {
vErrors.push(err200);
}
errors++;
}
}
}
else {
const err201 = {instancePath:instancePath+"/transcripts/" + i8+"/evals",schemaPath:"transcript-upload.schema.json/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err201];
}
else {
vErrors.push(err201);
}
errors++;
}
}
}
else {
const err202 = {instancePath:instancePath+"/transcripts/" + i8,schemaPath:"transcript-upload.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err202];
}
else {
vErrors.push(err202);
}
errors++;
}
}
}
else {
const err203 = {instancePath:instancePath+"/transcripts",schemaPath:"#/properties/transcripts/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err203];
}
else {
vErrors.push(err203);
}
errors++;
}
}
if(data.simulations !== undefined){
let data89 = data.simulations;
if(Array.isArray(data89)){
if(data89.length > 10000){
const err204 = {instancePath:instancePath+"/simulations",schemaPath:"#/properties/simulations/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err204];
}
else {
vErrors.push(err204);
}
errors++;
}
const len11 = data89.length;
for(let i11=0; i11<len11; i11++){
let data90 = data89[i11];
if(data90 && typeof data90 == "object" && !Array.isArray(data90)){
if(data90.name === undefined){
const err205 = {instancePath:instancePath+"/simulations/" + i11,schemaPath:"#/properties/simulations/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err205];
}
else {
vErrors.push(err205);
}
errors++;
}
if(data90.agent === undefined){
const err206 = {instancePath:instancePath+"/simulations/" + i11,schemaPath:"#/properties/simulations/items/required",keyword:"required",params:{missingProperty: "agent"},message:"must have required property '"+"agent"+"'"};
if(vErrors === null){
vErrors = [err206];
}
else {
vErrors.push(err206);
}
errors++;
}
for(const key19 in data90){
if(!(((((key19 === "id") || (key19 === "name")) || (key19 === "agent")) || (key19 === "deleted")) || (key19 === "sessions"))){
const err207 = {instancePath:instancePath+"/simulations/" + i11,schemaPath:"#/properties/simulations/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key19},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err207];
}
else {
vErrors.push(err207);
}
errors++;
}
}
if(data90.id !== undefined){
let data91 = data90.id;
if(typeof data91 === "string"){
if(!pattern8.test(data91)){
const err208 = {instancePath:instancePath+"/simulations/" + i11+"/id",schemaPath:"#/properties/simulations/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err208];
}
else {
vErrors.push(err208);
}
errors++;
}
}
else {
const err209 = {instancePath:instancePath+"/simulations/" + i11+"/id",schemaPath:"#/properties/simulations/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err209];
}
else {
vErrors.push(err209);
}
errors++;
}
}
if(data90.name !== undefined){
let data92 = data90.name;
if(typeof data92 === "string"){
if(!pattern3.test(data92)){
const err210 = {instancePath:instancePath+"/simulations/" + i11+"/name",schemaPath:"#/properties/simulations/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err210];
}
else {
vErrors.push(err210);
}
errors++;
}
}
else {
const err211 = {instancePath:instancePath+"/simulations/" + i11+"/name",schemaPath:"#/properties/simulations/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err211];
}
else {
vErrors.push(err211);
}
errors++;
}
}
if(data90.agent !== undefined){
let data93 = data90.agent;
if(typeof data93 === "string"){
if(!pattern3.test(data93)){
const err212 = {instancePath:instancePath+"/simulations/" + i11+"/agent",schemaPath:"#/properties/simulations/items/properties/agent/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err212];
}
else {
vErrors.push(err212);
}
errors++;
}
}
else {
const err213 = {instancePath:instancePath+"/simulations/" + i11+"/agent",schemaPath:"#/properties/simulations/items/properties/agent/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err213];
}
else {
vErrors.push(err213);
}
errors++;
}
}
if(data90.deleted !== undefined){
if(typeof data90.deleted !== "boolean"){
const err214 = {instancePath:instancePath+"/simulations/" + i11+"/deleted",schemaPath:"#/properties/simulations/items/properties/deleted/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err214];
}
else {
vErrors.push(err214);
}
errors++;
}
}
if(data90.sessions !== undefined){
let data95 = data90.sessions;
if(Array.isArray(data95)){
if(data95.length > 100000){
const err215 = {instancePath:instancePath+"/simulations/" + i11+"/sessions",schemaPath:"#/properties/simulations/items/properties/sessions/maxItems",keyword:"maxItems",params:{limit: 100000},message:"must NOT have more than 100000 items"};
if(vErrors === null){
vErrors = [err215];
}
else {
vErrors.push(err215);
}
errors++;
}
const len12 = data95.length;
for(let i12=0; i12<len12; i12++){
let data96 = data95[i12];
if(data96 && typeof data96 == "object" && !Array.isArray(data96)){
if(data96.scenario === undefined){
const err216 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12,schemaPath:"#/properties/simulations/items/properties/sessions/items/required",keyword:"required",params:{missingProperty: "scenario"},message:"must have required property '"+"scenario"+"'"};
if(vErrors === null){
vErrors = [err216];
}
else {
vErrors.push(err216);
}
errors++;
}
if(data96.persona === undefined){
const err217 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12,schemaPath:"#/properties/simulations/items/properties/sessions/items/required",keyword:"required",params:{missingProperty: "persona"},message:"must have required property '"+"persona"+"'"};
if(vErrors === null){
vErrors = [err217];
}
else {
vErrors.push(err217);
}
errors++;
}
if(data96.started_at === undefined){
const err218 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12,schemaPath:"#/properties/simulations/items/properties/sessions/items/required",keyword:"required",params:{missingProperty: "started_at"},message:"must have required property '"+"started_at"+"'"};
if(vErrors === null){
vErrors = [err218];
}
else {
vErrors.push(err218);
}
errors++;
}
for(const key20 in data96){
if(!(func2.call(schema70.properties.simulations.items.properties.sessions.items.properties, key20))){
const err219 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12,schemaPath:"#/properties/simulations/items/properties/sessions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key20},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err219];
}
else {
vErrors.push(err219);
}
errors++;
}
}
if(data96.scenario !== undefined){
let data97 = data96.scenario;
if(typeof data97 === "string"){
if(!pattern3.test(data97)){
const err220 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/scenario",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/scenario/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err220];
}
else {
vErrors.push(err220);
}
errors++;
}
}
else {
const err221 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/scenario",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/scenario/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err221];
}
else {
vErrors.push(err221);
}
errors++;
}
}
if(data96.persona !== undefined){
let data98 = data96.persona;
if(typeof data98 === "string"){
if(!pattern3.test(data98)){
const err222 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/persona",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/persona/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err222];
}
else {
vErrors.push(err222);
}
errors++;
}
}
else {
const err223 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/persona",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err223];
}
else {
vErrors.push(err223);
}
errors++;
}
}
if(data96.id !== undefined){
let data99 = data96.id;
if(typeof data99 === "string"){
if(!pattern8.test(data99)){
const err224 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/id",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err224];
}
else {
vErrors.push(err224);
}
errors++;
}
}
else {
const err225 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/id",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err225];
}
else {
vErrors.push(err225);
}
errors++;
}
}
if(data96.status !== undefined){
let data100 = data96.status;
if(typeof data100 !== "string"){
const err226 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/status",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err226];
}
else {
vErrors.push(err226);
}
errors++;
}
if(!((((((data100 === "pending") || (data100 === "running")) || (data100 === "evaluating")) || (data100 === "completed")) || (data100 === "failed")) || (data100 === "cancelled"))){
const err227 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/status",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/status/enum",keyword:"enum",params:{allowedValues: schema70.properties.simulations.items.properties.sessions.items.properties.status.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err227];
}
else {
vErrors.push(err227);
}
errors++;
}
}
if(data96.started_at !== undefined){
let data101 = data96.started_at;
if(typeof data101 === "string"){
if(!(formats0.test(data101))){
const err228 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/started_at",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err228];
}
else {
vErrors.push(err228);
}
errors++;
}
}
else {
const err229 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/started_at",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err229];
}
else {
vErrors.push(err229);
}
errors++;
}
}
if(data96.ended_at !== undefined){
let data102 = data96.ended_at;
if(typeof data102 === "string"){
if(!(formats0.test(data102))){
const err230 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/ended_at",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/ended_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err230];
}
else {
vErrors.push(err230);
}
errors++;
}
}
else {
const err231 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/ended_at",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/ended_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err231];
}
else {
vErrors.push(err231);
}
errors++;
}
}
if(data96.end_reason !== undefined){
let data103 = data96.end_reason;
if(typeof data103 === "string"){
if(!pattern3.test(data103)){
const err232 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/end_reason",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/end_reason/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err232];
}
else {
vErrors.push(err232);
}
errors++;
}
}
else {
const err233 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/end_reason",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/end_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err233];
}
else {
vErrors.push(err233);
}
errors++;
}
}
if(data96.metadata !== undefined){
let data104 = data96.metadata;
if(!(data104 && typeof data104 == "object" && !Array.isArray(data104))){
const err234 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/metadata",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err234];
}
else {
vErrors.push(err234);
}
errors++;
}
}
if(data96.evals !== undefined){
let data105 = data96.evals;
if(Array.isArray(data105)){
if(data105.length > 1000){
const err235 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/evals",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/evals/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err235];
}
else {
vErrors.push(err235);
}
errors++;
}
const len13 = data105.length;
for(let i13=0; i13<len13; i13++){
if(typeof data105[i13] !== "string"){
const err236 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/evals/" + i13,schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err236];
}
else {
vErrors.push(err236);
}
errors++;
}
}
}
else {
const err237 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/evals",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err237];
}
else {
vErrors.push(err237);
}
errors++;
}
}
if(data96.turns !== undefined){
let data107 = data96.turns;
if(Array.isArray(data107)){
if(data107.length > 10000){
const err238 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/turns/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err238];
}
else {
vErrors.push(err238);
}
errors++;
}
const len14 = data107.length;
for(let i14=0; i14<len14; i14++){
let data108 = data107[i14];
if(data108 && typeof data108 == "object" && !Array.isArray(data108)){
if(data108.user_input === undefined){
const err239 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14,schemaPath:"#/definitions/turn/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err239];
}
else {
vErrors.push(err239);
}
errors++;
}
if(data108.agent_response === undefined){
const err240 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14,schemaPath:"#/definitions/turn/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err240];
}
else {
vErrors.push(err240);
}
errors++;
}
for(const key21 in data108){
if(!((((key21 === "user_input") || (key21 === "user_reason")) || (key21 === "agent_response")) || (key21 === "evaluation_metadata"))){
const err241 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14,schemaPath:"#/definitions/turn/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key21},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err241];
}
else {
vErrors.push(err241);
}
errors++;
}
}
if(data108.user_input !== undefined){
if(typeof data108.user_input !== "string"){
const err242 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14+"/user_input",schemaPath:"#/definitions/turn/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err242];
}
else {
vErrors.push(err242);
}
errors++;
}
}
if(data108.user_reason !== undefined){
if(typeof data108.user_reason !== "string"){
const err243 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14+"/user_reason",schemaPath:"#/definitions/turn/properties/user_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err243];
}
else {
vErrors.push(err243);
}
errors++;
}
}
if(data108.agent_response !== undefined){
if(typeof data108.agent_response !== "string"){
const err244 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14+"/agent_response",schemaPath:"#/definitions/turn/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err244];
}
else {
vErrors.push(err244);
}
errors++;
}
}
if(data108.evaluation_metadata !== undefined){
let data112 = data108.evaluation_metadata;
if(!(data112 && typeof data112 == "object" && !Array.isArray(data112))){
const err245 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14+"/evaluation_metadata",schemaPath:"#/definitions/turn/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err245];
}
else {
vErrors.push(err245);
}
errors++;
}
}
}
else {
const err246 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns/" + i14,schemaPath:"#/definitions/turn/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err246];
}
else {
vErrors.push(err246);
}
errors++;
}
}
}
else {
const err247 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/turns",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/turns/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err247];
}
else {
vErrors.push(err247);
}
errors++;
}
}
if(data96.outcomes !== undefined){
let data113 = data96.outcomes;
if(Array.isArray(data113)){
if(data113.length > 1000){
const err248 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/outcomes/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err248];
}
else {
vErrors.push(err248);
}
errors++;
}
const len15 = data113.length;
for(let i15=0; i15<len15; i15++){
let data114 = data113[i15];
if(data114 && typeof data114 == "object" && !Array.isArray(data114)){
if(data114.outcome === undefined){
const err249 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15,schemaPath:"#/definitions/outcome/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err249];
}
else {
vErrors.push(err249);
}
errors++;
}
for(const key22 in data114){
if(!(((((((key22 === "eval") || (key22 === "eval_name")) || (key22 === "eval_category")) || (key22 === "eval_type")) || (key22 === "outcome")) || (key22 === "required")) || (key22 === "reasoning"))){
const err250 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15,schemaPath:"#/definitions/outcome/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key22},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err250];
}
else {
vErrors.push(err250);
}
errors++;
}
}
if(data114.eval !== undefined){
let data115 = data114.eval;
if(typeof data115 === "string"){
if(!pattern8.test(data115)){
const err251 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval",schemaPath:"#/definitions/outcome/properties/eval/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err251];
}
else {
vErrors.push(err251);
}
errors++;
}
}
else {
const err252 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval",schemaPath:"#/definitions/outcome/properties/eval/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err252];
}
else {
vErrors.push(err252);
}
errors++;
}
}
if(data114.eval_name !== undefined){
let data116 = data114.eval_name;
if(typeof data116 === "string"){
if(!pattern3.test(data116)){
const err253 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_name",schemaPath:"#/definitions/outcome/properties/eval_name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err253];
}
else {
vErrors.push(err253);
}
errors++;
}
}
else {
const err254 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_name",schemaPath:"#/definitions/outcome/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err254];
}
else {
vErrors.push(err254);
}
errors++;
}
}
if(data114.eval_category !== undefined){
let data117 = data114.eval_category;
if(typeof data117 === "string"){
if(!pattern3.test(data117)){
const err255 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_category",schemaPath:"#/definitions/outcome/properties/eval_category/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err255];
}
else {
vErrors.push(err255);
}
errors++;
}
}
else {
const err256 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_category",schemaPath:"#/definitions/outcome/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err256];
}
else {
vErrors.push(err256);
}
errors++;
}
}
if(data114.eval_type !== undefined){
let data118 = data114.eval_type;
if(typeof data118 !== "string"){
const err257 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_type",schemaPath:"#/definitions/outcome/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err257];
}
else {
vErrors.push(err257);
}
errors++;
}
if(!((data118 === "session_level") || (data118 === "turn_level"))){
const err258 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/eval_type",schemaPath:"#/definitions/outcome/properties/eval_type/enum",keyword:"enum",params:{allowedValues: schema77.properties.eval_type.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err258];
}
else {
vErrors.push(err258);
}
errors++;
}
}
if(data114.outcome !== undefined){
let data119 = data114.outcome;
if(typeof data119 !== "string"){
const err259 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/outcome",schemaPath:"#/definitions/outcome/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err259];
}
else {
vErrors.push(err259);
}
errors++;
}
if(!(((data119 === "pass") || (data119 === "fail")) || (data119 === "error"))){
const err260 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/outcome",schemaPath:"#/definitions/outcome/properties/outcome/enum",keyword:"enum",params:{allowedValues: schema77.properties.outcome.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err260];
}
else {
vErrors.push(err260);
}
errors++;
}
}
if(data114.required !== undefined){
if(typeof data114.required !== "boolean"){
const err261 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/required",schemaPath:"#/definitions/outcome/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err261];
}
else {
vErrors.push(err261);
}
errors++;
}
}
if(data114.reasoning !== undefined){
if(typeof data114.reasoning !== "string"){
const err262 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15+"/reasoning",schemaPath:"#/definitions/outcome/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err262];
}
else {
vErrors.push(err262);
}
errors++;
}
}
}
else {
const err263 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes/" + i15,schemaPath:"#/definitions/outcome/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err263];
}
else {
vErrors.push(err263);
}
errors++;
}
}
}
else {
const err264 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12+"/outcomes",schemaPath:"#/properties/simulations/items/properties/sessions/items/properties/outcomes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err264];
}
else {
vErrors.push(err264);
}
errors++;
}
}
}
else {
const err265 = {instancePath:instancePath+"/simulations/" + i11+"/sessions/" + i12,schemaPath:"#/properties/simulations/items/properties/sessions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err265];
}
else {
vErrors.push(err265);
}
errors++;
}
}
}
else {
const err266 = {instancePath:instancePath+"/simulations/" + i11+"/sessions",schemaPath:"#/properties/simulations/items/properties/sessions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err266];
}
else {
vErrors.push(err266);
}
errors++;
}
}
}
else {
const err267 = {instancePath:instancePath+"/simulations/" + i11,schemaPath:"#/properties/simulations/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err267];
}
else {
vErrors.push(err267);
}
errors++;
}
}
}
else {
const err268 = {instancePath:instancePath+"/simulations",schemaPath:"#/properties/simulations/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err268];
}
else {
vErrors.push(err268);
}
errors++;
}
}
if(data.runs !== undefined){
let data122 = data.runs;
if(Array.isArray(data122)){
if(data122.length > 10000){
const err269 = {instancePath:instancePath+"/runs",schemaPath:"#/properties/runs/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err269];
}
else {
vErrors.push(err269);
}
errors++;
}
const len16 = data122.length;
for(let i16=0; i16<len16; i16++){
let data123 = data122[i16];
if(data123 && typeof data123 == "object" && !Array.isArray(data123)){
if(data123.name === undefined){
const err270 = {instancePath:instancePath+"/runs/" + i16,schemaPath:"#/properties/runs/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err270];
}
else {
vErrors.push(err270);
}
errors++;
}
if(data123.sessions === undefined){
const err271 = {instancePath:instancePath+"/runs/" + i16,schemaPath:"#/properties/runs/items/required",keyword:"required",params:{missingProperty: "sessions"},message:"must have required property '"+"sessions"+"'"};
if(vErrors === null){
vErrors = [err271];
}
else {
vErrors.push(err271);
}
errors++;
}
for(const key23 in data123){
if(!((key23 === "name") || (key23 === "sessions"))){
const err272 = {instancePath:instancePath+"/runs/" + i16,schemaPath:"#/properties/runs/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key23},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err272];
}
else {
vErrors.push(err272);
}
errors++;
}
}
if(data123.name !== undefined){
let data124 = data123.name;
if(typeof data124 === "string"){
if(!pattern3.test(data124)){
const err273 = {instancePath:instancePath+"/runs/" + i16+"/name",schemaPath:"#/properties/runs/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err273];
}
else {
vErrors.push(err273);
}
errors++;
}
}
else {
const err274 = {instancePath:instancePath+"/runs/" + i16+"/name",schemaPath:"#/properties/runs/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err274];
}
else {
vErrors.push(err274);
}
errors++;
}
}
if(data123.sessions !== undefined){
let data125 = data123.sessions;
if(Array.isArray(data125)){
if(data125.length > 100000){
const err275 = {instancePath:instancePath+"/runs/" + i16+"/sessions",schemaPath:"#/properties/runs/items/properties/sessions/maxItems",keyword:"maxItems",params:{limit: 100000},message:"must NOT have more than 100000 items"};
if(vErrors === null){
vErrors = [err275];
}
else {
vErrors.push(err275);
}
errors++;
}
const len17 = data125.length;
for(let i17=0; i17<len17; i17++){
let data126 = data125[i17];
if(data126 && typeof data126 == "object" && !Array.isArray(data126)){
if(data126.source_session_id === undefined){
const err276 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17,schemaPath:"#/properties/runs/items/properties/sessions/items/required",keyword:"required",params:{missingProperty: "source_session_id"},message:"must have required property '"+"source_session_id"+"'"};
if(vErrors === null){
vErrors = [err276];
}
else {
vErrors.push(err276);
}
errors++;
}
if(data126.started_at === undefined){
const err277 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17,schemaPath:"#/properties/runs/items/properties/sessions/items/required",keyword:"required",params:{missingProperty: "started_at"},message:"must have required property '"+"started_at"+"'"};
if(vErrors === null){
vErrors = [err277];
}
else {
vErrors.push(err277);
}
errors++;
}
for(const key24 in data126){
if(!(func2.call(schema70.properties.runs.items.properties.sessions.items.properties, key24))){
const err278 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17,schemaPath:"#/properties/runs/items/properties/sessions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key24},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err278];
}
else {
vErrors.push(err278);
}
errors++;
}
}
if(data126.source_session_id !== undefined){
let data127 = data126.source_session_id;
if(typeof data127 === "string"){
if(!pattern67.test(data127)){
const err279 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/source_session_id",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/source_session_id/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,256}$"},message:"must match pattern \""+"^[^\\r\\n]{1,256}$"+"\""};
if(vErrors === null){
vErrors = [err279];
}
else {
vErrors.push(err279);
}
errors++;
}
}
else {
const err280 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/source_session_id",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/source_session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err280];
}
else {
vErrors.push(err280);
}
errors++;
}
}
if(data126.id !== undefined){
let data128 = data126.id;
if(typeof data128 === "string"){
if(!pattern8.test(data128)){
const err281 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/id",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err281];
}
else {
vErrors.push(err281);
}
errors++;
}
}
else {
const err282 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/id",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err282];
}
else {
vErrors.push(err282);
}
errors++;
}
}
if(data126.status !== undefined){
let data129 = data126.status;
if(typeof data129 !== "string"){
const err283 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/status",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err283];
}
else {
vErrors.push(err283);
}
errors++;
}
if(!((((((data129 === "pending") || (data129 === "running")) || (data129 === "evaluating")) || (data129 === "completed")) || (data129 === "failed")) || (data129 === "cancelled"))){
const err284 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/status",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/status/enum",keyword:"enum",params:{allowedValues: schema70.properties.runs.items.properties.sessions.items.properties.status.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err284];
}
else {
vErrors.push(err284);
}
errors++;
}
}
if(data126.started_at !== undefined){
let data130 = data126.started_at;
if(typeof data130 === "string"){
if(!(formats0.test(data130))){
const err285 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/started_at",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err285];
}
else {
vErrors.push(err285);
}
errors++;
}
}
else {
const err286 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/started_at",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err286];
}
else {
vErrors.push(err286);
}
errors++;
}
}
if(data126.ended_at !== undefined){
let data131 = data126.ended_at;
if(typeof data131 === "string"){
if(!(formats0.test(data131))){
const err287 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/ended_at",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/ended_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err287];
}
else {
vErrors.push(err287);
}
errors++;
}
}
else {
const err288 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/ended_at",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/ended_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err288];
}
else {
vErrors.push(err288);
}
errors++;
}
}
if(data126.end_reason !== undefined){
let data132 = data126.end_reason;
if(typeof data132 === "string"){
if(!pattern3.test(data132)){
const err289 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/end_reason",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/end_reason/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err289];
}
else {
vErrors.push(err289);
}
errors++;
}
}
else {
const err290 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/end_reason",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/end_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err290];
}
else {
vErrors.push(err290);
}
errors++;
}
}
if(data126.metadata !== undefined){
let data133 = data126.metadata;
if(!(data133 && typeof data133 == "object" && !Array.isArray(data133))){
const err291 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/metadata",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err291];
}
else {
vErrors.push(err291);
}
errors++;
}
}
if(data126.evals !== undefined){
let data134 = data126.evals;
if(Array.isArray(data134)){
if(data134.length > 1000){
const err292 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/evals",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/evals/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err292];
}
else {
vErrors.push(err292);
}
errors++;
}
const len18 = data134.length;
for(let i18=0; i18<len18; i18++){
if(typeof data134[i18] !== "string"){
const err293 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/evals/" + i18,schemaPath:"#/properties/runs/items/properties/sessions/items/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err293];
}
else {
vErrors.push(err293);
}
errors++;
}
}
}
else {
const err294 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/evals",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err294];
}
else {
vErrors.push(err294);
}
errors++;
}
}
if(data126.turns !== undefined){
let data136 = data126.turns;
if(Array.isArray(data136)){
if(data136.length > 10000){
const err295 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/turns/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err295];
}
else {
vErrors.push(err295);
}
errors++;
}
const len19 = data136.length;
for(let i19=0; i19<len19; i19++){
let data137 = data136[i19];
if(data137 && typeof data137 == "object" && !Array.isArray(data137)){
if(data137.user_input === undefined){
const err296 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19,schemaPath:"#/definitions/turn/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err296];
}
else {
vErrors.push(err296);
}
errors++;
}
if(data137.agent_response === undefined){
const err297 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19,schemaPath:"#/definitions/turn/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err297];
}
else {
vErrors.push(err297);
}
errors++;
}
for(const key25 in data137){
if(!((((key25 === "user_input") || (key25 === "user_reason")) || (key25 === "agent_response")) || (key25 === "evaluation_metadata"))){
const err298 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19,schemaPath:"#/definitions/turn/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key25},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err298];
}
else {
vErrors.push(err298);
}
errors++;
}
}
if(data137.user_input !== undefined){
if(typeof data137.user_input !== "string"){
const err299 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19+"/user_input",schemaPath:"#/definitions/turn/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err299];
}
else {
vErrors.push(err299);
}
errors++;
}
}
if(data137.user_reason !== undefined){
if(typeof data137.user_reason !== "string"){
const err300 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19+"/user_reason",schemaPath:"#/definitions/turn/properties/user_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err300];
}
else {
vErrors.push(err300);
}
errors++;
}
}
if(data137.agent_response !== undefined){
if(typeof data137.agent_response !== "string"){
const err301 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19+"/agent_response",schemaPath:"#/definitions/turn/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err301];
}
else {
vErrors.push(err301);
}
errors++;
}
}
if(data137.evaluation_metadata !== undefined){
let data141 = data137.evaluation_metadata;
if(!(data141 && typeof data141 == "object" && !Array.isArray(data141))){
const err302 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19+"/evaluation_metadata",schemaPath:"#/definitions/turn/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err302];
}
else {
vErrors.push(err302);
}
errors++;
}
}
}
else {
const err303 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns/" + i19,schemaPath:"#/definitions/turn/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err303];
}
else {
vErrors.push(err303);
}
errors++;
}
}
}
else {
const err304 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/turns",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/turns/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err304];
}
else {
vErrors.push(err304);
}
errors++;
}
}
if(data126.outcomes !== undefined){
let data142 = data126.outcomes;
if(Array.isArray(data142)){
if(data142.length > 1000){
const err305 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/outcomes/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
if(vErrors === null){
vErrors = [err305];
}
else {
vErrors.push(err305);
}
errors++;
}
const len20 = data142.length;
for(let i20=0; i20<len20; i20++){
let data143 = data142[i20];
if(data143 && typeof data143 == "object" && !Array.isArray(data143)){
if(data143.outcome === undefined){
const err306 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20,schemaPath:"#/definitions/outcome/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err306];
}
else {
vErrors.push(err306);
}
errors++;
}
for(const key26 in data143){
if(!(((((((key26 === "eval") || (key26 === "eval_name")) || (key26 === "eval_category")) || (key26 === "eval_type")) || (key26 === "outcome")) || (key26 === "required")) || (key26 === "reasoning"))){
const err307 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20,schemaPath:"#/definitions/outcome/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key26},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err307];
}
else {
vErrors.push(err307);
}
errors++;
}
}
if(data143.eval !== undefined){
let data144 = data143.eval;
if(typeof data144 === "string"){
if(!pattern8.test(data144)){
const err308 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval",schemaPath:"#/definitions/outcome/properties/eval/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err308];
}
else {
vErrors.push(err308);
}
errors++;
}
}
else {
const err309 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval",schemaPath:"#/definitions/outcome/properties/eval/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err309];
}
else {
vErrors.push(err309);
}
errors++;
}
}
if(data143.eval_name !== undefined){
let data145 = data143.eval_name;
if(typeof data145 === "string"){
if(!pattern3.test(data145)){
const err310 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_name",schemaPath:"#/definitions/outcome/properties/eval_name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err310];
}
else {
vErrors.push(err310);
}
errors++;
}
}
else {
const err311 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_name",schemaPath:"#/definitions/outcome/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err311];
}
else {
vErrors.push(err311);
}
errors++;
}
}
if(data143.eval_category !== undefined){
let data146 = data143.eval_category;
if(typeof data146 === "string"){
if(!pattern3.test(data146)){
const err312 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_category",schemaPath:"#/definitions/outcome/properties/eval_category/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err312];
}
else {
vErrors.push(err312);
}
errors++;
}
}
else {
const err313 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_category",schemaPath:"#/definitions/outcome/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err313];
}
else {
vErrors.push(err313);
}
errors++;
}
}
if(data143.eval_type !== undefined){
let data147 = data143.eval_type;
if(typeof data147 !== "string"){
const err314 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_type",schemaPath:"#/definitions/outcome/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err314];
}
else {
vErrors.push(err314);
}
errors++;
}
if(!((data147 === "session_level") || (data147 === "turn_level"))){
const err315 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/eval_type",schemaPath:"#/definitions/outcome/properties/eval_type/enum",keyword:"enum",params:{allowedValues: schema77.properties.eval_type.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err315];
}
else {
vErrors.push(err315);
}
errors++;
}
}
if(data143.outcome !== undefined){
let data148 = data143.outcome;
if(typeof data148 !== "string"){
const err316 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/outcome",schemaPath:"#/definitions/outcome/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err316];
}
else {
vErrors.push(err316);
}
errors++;
}
if(!(((data148 === "pass") || (data148 === "fail")) || (data148 === "error"))){
const err317 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/outcome",schemaPath:"#/definitions/outcome/properties/outcome/enum",keyword:"enum",params:{allowedValues: schema77.properties.outcome.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err317];
}
else {
vErrors.push(err317);
}
errors++;
}
}
if(data143.required !== undefined){
if(typeof data143.required !== "boolean"){
const err318 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/required",schemaPath:"#/definitions/outcome/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err318];
}
else {
vErrors.push(err318);
}
errors++;
}
}
if(data143.reasoning !== undefined){
if(typeof data143.reasoning !== "string"){
const err319 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20+"/reasoning",schemaPath:"#/definitions/outcome/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err319];
}
else {
vErrors.push(err319);
}
errors++;
}
}
}
else {
const err320 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes/" + i20,schemaPath:"#/definitions/outcome/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err320];
}
else {
vErrors.push(err320);
}
errors++;
}
}
}
else {
const err321 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17+"/outcomes",schemaPath:"#/properties/runs/items/properties/sessions/items/properties/outcomes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err321];
}
else {
vErrors.push(err321);
}
errors++;
}
}
}
else {
const err322 = {instancePath:instancePath+"/runs/" + i16+"/sessions/" + i17,schemaPath:"#/properties/runs/items/properties/sessions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err322];
}
else {
vErrors.push(err322);
}
errors++;
}
}
}
else {
const err323 = {instancePath:instancePath+"/runs/" + i16+"/sessions",schemaPath:"#/properties/runs/items/properties/sessions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err323];
}
else {
vErrors.push(err323);
}
errors++;
}
}
}
else {
const err324 = {instancePath:instancePath+"/runs/" + i16,schemaPath:"#/properties/runs/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err324];
}
else {
vErrors.push(err324);
}
errors++;
}
}
}
else {
const err325 = {instancePath:instancePath+"/runs",schemaPath:"#/properties/runs/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err325];
}
else {
vErrors.push(err325);
}
errors++;
}
}
}
else {
const err326 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err326];
}
else {
vErrors.push(err326);
}
errors++;
}
validate43.errors = vErrors;
return errors === 0;
}

export const ServiceError = validate45;
const schema80 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"service-error.schema.json","title":"ServiceError","$comment":"spec 7","description":"What the service answers when it refuses a request of area A.","type":"object","required":["message"],"properties":{"message":{"type":"string","description":"What was expected, what came, what to do."}},"examples":[{"message":"no span has gen_ai.conversation.id, and there is no X-Conversation-Id header"}],"x-near-misses":[{"breaks":"/message","value":{"error":"no conversation id"}},{"breaks":"/message","value":{"message":400}}]};

function validate45(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="service-error.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.message === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.message !== undefined){
if(typeof data.message !== "string"){
const err1 = {instancePath:instancePath+"/message",schemaPath:"#/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate45.errors = vErrors;
return errors === 0;
}

export const ServiceFault = validate46;
const schema81 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"service-fault.schema.json","title":"ServiceFault","$comment":"our extension; /__admin/faults of the service","description":"A fault that the service shows on demand, so that a client can test its retries.","x-extension":true,"type":"object","required":["kind"],"additionalProperties":false,"properties":{"kind":{"type":"string","enum":["rate_limit","server_error","unavailable","slow"],"description":"429, 500, 503, or the right answer after delay_ms."},"route":{"type":"string","enum":["traces","end","results"],"description":"Where it shows; everywhere when left out."},"delay_ms":{"type":"integer","minimum":1,"maximum":600000,"description":"Milliseconds that a slow answer waits; 1000 when left out."},"retry_after_s":{"type":"integer","minimum":0,"maximum":86400,"description":"Seconds; the Retry-After of a rate_limit or unavailable; 1 when left out."},"times":{"type":"integer","minimum":1,"maximum":1000000,"description":"Show it for so many requests, then stop. For good when left out."},"ttl_ms":{"type":"integer","minimum":1,"maximum":86400000,"description":"Milliseconds after which it stops by itself."}},"examples":[{"kind":"rate_limit","route":"traces","retry_after_s":1,"times":2},{"kind":"slow","delay_ms":500,"ttl_ms":60000}],"x-near-misses":[{"breaks":"/kind","value":{"times":3}},{"breaks":"/kind","value":{"kind":"explode"}},{"breaks":"/times","value":{"kind":"slow","times":0}},{"breaks":"/route","value":{"kind":"slow","route":"chat"}}]};

function validate46(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="service-fault.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kind === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "kind") || (key0 === "route")) || (key0 === "delay_ms")) || (key0 === "retry_after_s")) || (key0 === "times")) || (key0 === "ttl_ms"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.kind !== undefined){
let data0 = data.kind;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((((data0 === "rate_limit") || (data0 === "server_error")) || (data0 === "unavailable")) || (data0 === "slow"))){
const err3 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema81.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.route !== undefined){
let data1 = data.route;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/route",schemaPath:"#/properties/route/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!(((data1 === "traces") || (data1 === "end")) || (data1 === "results"))){
const err5 = {instancePath:instancePath+"/route",schemaPath:"#/properties/route/enum",keyword:"enum",params:{allowedValues: schema81.properties.route.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.delay_ms !== undefined){
let data2 = data.delay_ms;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/delay_ms",schemaPath:"#/properties/delay_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 600000 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/delay_ms",schemaPath:"#/properties/delay_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 600000},message:"must be <= 600000"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err8 = {instancePath:instancePath+"/delay_ms",schemaPath:"#/properties/delay_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
if(data.retry_after_s !== undefined){
let data3 = data.retry_after_s;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err9 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 86400 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400},message:"must be <= 86400"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err11 = {instancePath:instancePath+"/retry_after_s",schemaPath:"#/properties/retry_after_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.times !== undefined){
let data4 = data.times;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err12 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 1000000 || isNaN(data4)){
const err13 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err14 = {instancePath:instancePath+"/times",schemaPath:"#/properties/times/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.ttl_ms !== undefined){
let data5 = data.ttl_ms;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err15 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 86400000 || isNaN(data5)){
const err16 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400000},message:"must be <= 86400000"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data5 < 1 || isNaN(data5)){
const err17 = {instancePath:instancePath+"/ttl_ms",schemaPath:"#/properties/ttl_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
}
else {
const err18 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
validate46.errors = vErrors;
return errors === 0;
}

export const SessionVerdict = validate47;
const schema82 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"session-verdict.schema.json","title":"SessionVerdict","$comment":"our extension; GET /__admin/sessions/{id} of the service, and each of GET /__admin/sessions","description":"Whether a session as a whole passed, and by which outcomes; also those that errored, which the interface does not show.","x-extension":true,"type":"object","required":["id","kind","status","verdict","outcomes"],"properties":{"id":{"type":"string","description":"The sessionId of its deep link."},"kind":{"type":"string","enum":["simulation","production"]},"status":{"type":"string","enum":["pending","running","evaluating","completed","failed","cancelled"]},"verdict":{"type":"string","enum":["passed","failed","undecided"],"description":"failed: a required eval failed. passed: the session is completed, an eval passed, and no required one failed or errored. Else undecided."},"url":{"type":"string","description":"Its page; absent when its simulation was deleted."},"source_session_id":{"type":"string","description":"Of production sessions: the caller's own id of the conversation."},"end_reason":{"type":"string"},"outcomes":{"type":"array","items":{"title":"VerdictOutcome","type":"object","required":["eval","eval_name","eval_category","eval_type","outcome","required","reasoning"],"properties":{"eval":{"type":"string","description":"Id of the eval."},"eval_name":{"type":"string"},"eval_category":{"type":"string"},"eval_type":{"type":"string"},"outcome":{"type":"string","enum":["pass","fail","error"]},"required":{"type":"boolean","description":"As the eval was when it was queued; false never makes the session fail."},"reasoning":{"type":"string"}},"additionalProperties":false}}},"additionalProperties":false,"examples":[{"id":"ses-1","kind":"production","status":"completed","verdict":"passed","url":"http://127.0.0.1:9090/production-eval/1?sessionId=ses-1","source_session_id":"conv-1","outcomes":[{"eval":"order-found","eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","required":true,"reasoning":"The agent named the status of the order."}]}],"x-near-misses":[{"breaks":"/verdict","value":{"id":"ses-1","kind":"production","status":"completed","verdict":"green","outcomes":[]}},{"breaks":"/outcomes/0/required","value":{"id":"ses-1","kind":"production","status":"completed","verdict":"passed","outcomes":[{"eval":"order-found","eval_name":"Order found","eval_category":"general","eval_type":"session_level","outcome":"pass","reasoning":""}]}}]};

function validate47(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="session-verdict.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.kind === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.status === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.verdict === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "verdict"},message:"must have required property '"+"verdict"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.outcomes === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "outcomes"},message:"must have required property '"+"outcomes"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key0 in data){
if(!((((((((key0 === "id") || (key0 === "kind")) || (key0 === "status")) || (key0 === "verdict")) || (key0 === "url")) || (key0 === "source_session_id")) || (key0 === "end_reason")) || (key0 === "outcomes"))){
const err5 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.id !== undefined){
if(typeof data.id !== "string"){
const err6 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.kind !== undefined){
let data1 = data.kind;
if(typeof data1 !== "string"){
const err7 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(!((data1 === "simulation") || (data1 === "production"))){
const err8 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema82.properties.kind.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.status !== undefined){
let data2 = data.status;
if(typeof data2 !== "string"){
const err9 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(!((((((data2 === "pending") || (data2 === "running")) || (data2 === "evaluating")) || (data2 === "completed")) || (data2 === "failed")) || (data2 === "cancelled"))){
const err10 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/enum",keyword:"enum",params:{allowedValues: schema82.properties.status.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.verdict !== undefined){
let data3 = data.verdict;
if(typeof data3 !== "string"){
const err11 = {instancePath:instancePath+"/verdict",schemaPath:"#/properties/verdict/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!(((data3 === "passed") || (data3 === "failed")) || (data3 === "undecided"))){
const err12 = {instancePath:instancePath+"/verdict",schemaPath:"#/properties/verdict/enum",keyword:"enum",params:{allowedValues: schema82.properties.verdict.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.url !== undefined){
if(typeof data.url !== "string"){
const err13 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.source_session_id !== undefined){
if(typeof data.source_session_id !== "string"){
const err14 = {instancePath:instancePath+"/source_session_id",schemaPath:"#/properties/source_session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.end_reason !== undefined){
if(typeof data.end_reason !== "string"){
const err15 = {instancePath:instancePath+"/end_reason",schemaPath:"#/properties/end_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.outcomes !== undefined){
let data7 = data.outcomes;
if(Array.isArray(data7)){
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.eval === undefined){
const err16 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "eval"},message:"must have required property '"+"eval"+"'"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data8.eval_name === undefined){
const err17 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "eval_name"},message:"must have required property '"+"eval_name"+"'"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(data8.eval_category === undefined){
const err18 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "eval_category"},message:"must have required property '"+"eval_category"+"'"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(data8.eval_type === undefined){
const err19 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "eval_type"},message:"must have required property '"+"eval_type"+"'"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(data8.outcome === undefined){
const err20 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(data8.required === undefined){
const err21 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "required"},message:"must have required property '"+"required"+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data8.reasoning === undefined){
const err22 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/required",keyword:"required",params:{missingProperty: "reasoning"},message:"must have required property '"+"reasoning"+"'"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
for(const key1 in data8){
if(!(((((((key1 === "eval") || (key1 === "eval_name")) || (key1 === "eval_category")) || (key1 === "eval_type")) || (key1 === "outcome")) || (key1 === "required")) || (key1 === "reasoning"))){
const err23 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data8.eval !== undefined){
if(typeof data8.eval !== "string"){
const err24 = {instancePath:instancePath+"/outcomes/" + i0+"/eval",schemaPath:"#/properties/outcomes/items/properties/eval/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data8.eval_name !== undefined){
if(typeof data8.eval_name !== "string"){
const err25 = {instancePath:instancePath+"/outcomes/" + i0+"/eval_name",schemaPath:"#/properties/outcomes/items/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data8.eval_category !== undefined){
if(typeof data8.eval_category !== "string"){
const err26 = {instancePath:instancePath+"/outcomes/" + i0+"/eval_category",schemaPath:"#/properties/outcomes/items/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data8.eval_type !== undefined){
if(typeof data8.eval_type !== "string"){
const err27 = {instancePath:instancePath+"/outcomes/" + i0+"/eval_type",schemaPath:"#/properties/outcomes/items/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data8.outcome !== undefined){
let data13 = data8.outcome;
if(typeof data13 !== "string"){
const err28 = {instancePath:instancePath+"/outcomes/" + i0+"/outcome",schemaPath:"#/properties/outcomes/items/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if(!(((data13 === "pass") || (data13 === "fail")) || (data13 === "error"))){
const err29 = {instancePath:instancePath+"/outcomes/" + i0+"/outcome",schemaPath:"#/properties/outcomes/items/properties/outcome/enum",keyword:"enum",params:{allowedValues: schema82.properties.outcomes.items.properties.outcome.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data8.required !== undefined){
if(typeof data8.required !== "boolean"){
const err30 = {instancePath:instancePath+"/outcomes/" + i0+"/required",schemaPath:"#/properties/outcomes/items/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data8.reasoning !== undefined){
if(typeof data8.reasoning !== "string"){
const err31 = {instancePath:instancePath+"/outcomes/" + i0+"/reasoning",schemaPath:"#/properties/outcomes/items/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
else {
const err32 = {instancePath:instancePath+"/outcomes/" + i0,schemaPath:"#/properties/outcomes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/outcomes",schemaPath:"#/properties/outcomes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
else {
const err34 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
validate47.errors = vErrors;
return errors === 0;
}

export const SimulationSessionPage = validate48;
const schema83 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"simulation-session-page.schema.json","title":"SimulationSessionPage","$comment":"spec 2.6, 4.3","description":"A page of sessions with their outcomes, newest first.","type":"object","required":["items","total","skip","limit"],"properties":{"items":{"type":"array","items":{"$ref":"simulation-session.schema.json"}},"total":{"type":"integer","minimum":0,"description":"Sessions that match the filters, on all pages."},"skip":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":0,"maximum":500}},"examples":[{"items":[{"url":"http://127.0.0.1:9090/simulation/sim-1?sessionId=ses-1","simulation":"Nightly","agent":"Shop agent","scenario":"late-parcel","persona":"impatient","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]}],"total":1,"skip":0,"limit":50},{"items":[],"total":0,"skip":0,"limit":50}],"x-near-misses":[{"breaks":"/total","value":{"items":[],"skip":0,"limit":50}},{"breaks":"/limit","value":{"items":[],"total":0,"skip":0,"limit":501}}]};
const schema84 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"simulation-session.schema.json","title":"SimulationSession","$comment":"spec 2.4","description":"An item of GET /api/simulations/sessions/.","type":"object","required":["url","simulation","agent","scenario","persona","status","started_at","ended_at","outcome_summary","eval_outcomes"],"properties":{"url":{"type":["string","null"],"description":"Deep link {app_url}/simulation/ID?sessionId=ID; null when the simulation was deleted."},"simulation":{"type":"string","description":"Name of the simulation run."},"agent":{"type":"string"},"scenario":{"type":"string"},"persona":{"type":"string"},"status":{"type":"string","description":"Session status, e.g. completed."},"started_at":{"type":"string","format":"iso8601"},"ended_at":{"type":"string","format":"iso8601"},"outcome_summary":{"$ref":"outcome-summary.schema.json"},"eval_outcomes":{"type":"array","items":{"$ref":"eval-outcome.schema.json"}},"traces":{"type":"array","description":"Only with include_traces=true.","items":{"title":"SimulationTurn","type":"object","required":["session_sequence","user_input","user_reason","agent_response"],"properties":{"session_sequence":{"type":"integer","minimum":1},"user_input":{"type":"string"},"user_reason":{"type":"string","description":"Why the simulated user said it."},"agent_response":{"type":"string"}}}}},"examples":[{"url":"http://127.0.0.1:9090/simulation/sim-1?sessionId=ses-1","simulation":"Nightly","agent":"Shop agent","scenario":"late-parcel","persona":"impatient","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]},{"url":null,"simulation":"Nightly","agent":"Shop agent","scenario":"late-parcel","persona":"impatient","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}],"traces":[{"session_sequence":1,"user_input":"Where is my order?","user_reason":"opens","agent_response":"On its way."}]}],"x-near-misses":[{"breaks":"/url","value":{"simulation":"Nightly","agent":"Shop agent","scenario":"late-parcel","persona":"impatient","status":"completed","started_at":"2026-11-20T09:30:00Z","ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]}},{"breaks":"/started_at","value":{"url":"http://127.0.0.1:9090/simulation/sim-1?sessionId=ses-1","simulation":"Nightly","agent":"Shop agent","scenario":"late-parcel","persona":"impatient","status":"completed","started_at":1,"ended_at":"2026-11-20T09:31:00Z","outcome_summary":{"total_evaluations":1,"passed_count":1,"failed_count":0,"pass_rate":1},"eval_outcomes":[{"eval_name":"Order found","eval_category":"task_completion","eval_type":"session_level","outcome":"pass","reasoning":"It was."}]}}]};

function validate49(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="simulation-session.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.url === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "url"},message:"must have required property '"+"url"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.simulation === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "simulation"},message:"must have required property '"+"simulation"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.agent === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "agent"},message:"must have required property '"+"agent"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.scenario === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scenario"},message:"must have required property '"+"scenario"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.persona === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "persona"},message:"must have required property '"+"persona"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.status === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data.started_at === undefined){
const err6 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "started_at"},message:"must have required property '"+"started_at"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.ended_at === undefined){
const err7 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ended_at"},message:"must have required property '"+"ended_at"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data.outcome_summary === undefined){
const err8 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "outcome_summary"},message:"must have required property '"+"outcome_summary"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data.eval_outcomes === undefined){
const err9 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "eval_outcomes"},message:"must have required property '"+"eval_outcomes"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.url !== undefined){
let data0 = data.url;
if((typeof data0 !== "string") && (data0 !== null)){
const err10 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: schema84.properties.url.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.simulation !== undefined){
if(typeof data.simulation !== "string"){
const err11 = {instancePath:instancePath+"/simulation",schemaPath:"#/properties/simulation/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.agent !== undefined){
if(typeof data.agent !== "string"){
const err12 = {instancePath:instancePath+"/agent",schemaPath:"#/properties/agent/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.scenario !== undefined){
if(typeof data.scenario !== "string"){
const err13 = {instancePath:instancePath+"/scenario",schemaPath:"#/properties/scenario/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.persona !== undefined){
if(typeof data.persona !== "string"){
const err14 = {instancePath:instancePath+"/persona",schemaPath:"#/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.status !== undefined){
if(typeof data.status !== "string"){
const err15 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.started_at !== undefined){
let data6 = data.started_at;
if(typeof data6 === "string"){
if(!(formats0.test(data6))){
const err16 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.ended_at !== undefined){
let data7 = data.ended_at;
if(typeof data7 === "string"){
if(!(formats0.test(data7))){
const err18 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.outcome_summary !== undefined){
let data8 = data.outcome_summary;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.total_evaluations === undefined){
const err20 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "total_evaluations"},message:"must have required property '"+"total_evaluations"+"'"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(data8.passed_count === undefined){
const err21 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "passed_count"},message:"must have required property '"+"passed_count"+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data8.failed_count === undefined){
const err22 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "failed_count"},message:"must have required property '"+"failed_count"+"'"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data8.pass_rate === undefined){
const err23 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/required",keyword:"required",params:{missingProperty: "pass_rate"},message:"must have required property '"+"pass_rate"+"'"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data8.total_evaluations !== undefined){
let data9 = data8.total_evaluations;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err24 = {instancePath:instancePath+"/outcome_summary/total_evaluations",schemaPath:"outcome-summary.schema.json/properties/total_evaluations/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err25 = {instancePath:instancePath+"/outcome_summary/total_evaluations",schemaPath:"outcome-summary.schema.json/properties/total_evaluations/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
if(data8.passed_count !== undefined){
let data10 = data8.passed_count;
if(!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))){
const err26 = {instancePath:instancePath+"/outcome_summary/passed_count",schemaPath:"outcome-summary.schema.json/properties/passed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 < 0 || isNaN(data10)){
const err27 = {instancePath:instancePath+"/outcome_summary/passed_count",schemaPath:"outcome-summary.schema.json/properties/passed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
if(data8.failed_count !== undefined){
let data11 = data8.failed_count;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
const err28 = {instancePath:instancePath+"/outcome_summary/failed_count",schemaPath:"outcome-summary.schema.json/properties/failed_count/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 < 0 || isNaN(data11)){
const err29 = {instancePath:instancePath+"/outcome_summary/failed_count",schemaPath:"outcome-summary.schema.json/properties/failed_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
if(data8.pass_rate !== undefined){
let data12 = data8.pass_rate;
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 1 || isNaN(data12)){
const err30 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(data12 < 0 || isNaN(data12)){
const err31 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/outcome_summary/pass_rate",schemaPath:"outcome-summary.schema.json/properties/pass_rate/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/outcome_summary",schemaPath:"outcome-summary.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.eval_outcomes !== undefined){
let data13 = data.eval_outcomes;
if(Array.isArray(data13)){
const len0 = data13.length;
for(let i0=0; i0<len0; i0++){
let data14 = data13[i0];
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.eval_name === undefined){
const err34 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_name"},message:"must have required property '"+"eval_name"+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data14.eval_category === undefined){
const err35 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_category"},message:"must have required property '"+"eval_category"+"'"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if(data14.eval_type === undefined){
const err36 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "eval_type"},message:"must have required property '"+"eval_type"+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data14.outcome === undefined){
const err37 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "outcome"},message:"must have required property '"+"outcome"+"'"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(data14.reasoning === undefined){
const err38 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/required",keyword:"required",params:{missingProperty: "reasoning"},message:"must have required property '"+"reasoning"+"'"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(data14.eval_name !== undefined){
if(typeof data14.eval_name !== "string"){
const err39 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_name",schemaPath:"eval-outcome.schema.json/properties/eval_name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data14.eval_category !== undefined){
if(typeof data14.eval_category !== "string"){
const err40 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_category",schemaPath:"eval-outcome.schema.json/properties/eval_category/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data14.eval_type !== undefined){
if(typeof data14.eval_type !== "string"){
const err41 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/eval_type",schemaPath:"eval-outcome.schema.json/properties/eval_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data14.outcome !== undefined){
if(typeof data14.outcome !== "string"){
const err42 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/outcome",schemaPath:"eval-outcome.schema.json/properties/outcome/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data14.reasoning !== undefined){
if(typeof data14.reasoning !== "string"){
const err43 = {instancePath:instancePath+"/eval_outcomes/" + i0+"/reasoning",schemaPath:"eval-outcome.schema.json/properties/reasoning/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
}
else {
const err44 = {instancePath:instancePath+"/eval_outcomes/" + i0,schemaPath:"eval-outcome.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
}
else {
const err45 = {instancePath:instancePath+"/eval_outcomes",schemaPath:"#/properties/eval_outcomes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data.traces !== undefined){
let data20 = data.traces;
if(Array.isArray(data20)){
const len1 = data20.length;
for(let i1=0; i1<len1; i1++){
let data21 = data20[i1];
if(data21 && typeof data21 == "object" && !Array.isArray(data21)){
if(data21.session_sequence === undefined){
const err46 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "session_sequence"},message:"must have required property '"+"session_sequence"+"'"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if(data21.user_input === undefined){
const err47 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
if(data21.user_reason === undefined){
const err48 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "user_reason"},message:"must have required property '"+"user_reason"+"'"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(data21.agent_response === undefined){
const err49 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(data21.session_sequence !== undefined){
let data22 = data21.session_sequence;
if(!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))){
const err50 = {instancePath:instancePath+"/traces/" + i1+"/session_sequence",schemaPath:"#/properties/traces/items/properties/session_sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 1 || isNaN(data22)){
const err51 = {instancePath:instancePath+"/traces/" + i1+"/session_sequence",schemaPath:"#/properties/traces/items/properties/session_sequence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
if(data21.user_input !== undefined){
if(typeof data21.user_input !== "string"){
const err52 = {instancePath:instancePath+"/traces/" + i1+"/user_input",schemaPath:"#/properties/traces/items/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data21.user_reason !== undefined){
if(typeof data21.user_reason !== "string"){
const err53 = {instancePath:instancePath+"/traces/" + i1+"/user_reason",schemaPath:"#/properties/traces/items/properties/user_reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data21.agent_response !== undefined){
if(typeof data21.agent_response !== "string"){
const err54 = {instancePath:instancePath+"/traces/" + i1+"/agent_response",schemaPath:"#/properties/traces/items/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
}
else {
const err55 = {instancePath:instancePath+"/traces/" + i1,schemaPath:"#/properties/traces/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
}
else {
const err56 = {instancePath:instancePath+"/traces",schemaPath:"#/properties/traces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
}
else {
const err57 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
validate49.errors = vErrors;
return errors === 0;
}


function validate48(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="simulation-session-page.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.items === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "items"},message:"must have required property '"+"items"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.total === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "total"},message:"must have required property '"+"total"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.skip === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "skip"},message:"must have required property '"+"skip"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.limit === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "limit"},message:"must have required property '"+"limit"+"'"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.items !== undefined){
let data0 = data.items;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate49(data0[i0], {instancePath:instancePath+"/items/" + i0,parentData:data0,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate49.errors : vErrors.concat(validate49.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath:instancePath+"/items",schemaPath:"#/properties/items/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.total !== undefined){
let data2 = data.total;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err5 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.skip !== undefined){
let data3 = data.skip;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err7 = {instancePath:instancePath+"/skip",schemaPath:"#/properties/skip/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/skip",schemaPath:"#/properties/skip/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
if(data.limit !== undefined){
let data4 = data.limit;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err9 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 500 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 500},message:"must be <= 500"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err11 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate48.errors = vErrors;
return errors === 0;
}

export const SimulationSession = validate49;

export const StartCall = validate51;
const schema87 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"start-call.schema.json","title":"StartCall","$comment":"spec 6","description":"Service to sandbox: begin a call. The full form carries audio_config under metadata, the minimal form at the top level; both are legal.","type":"object","required":["type"],"properties":{"type":{"type":"string","const":"start_call"},"user_id":{"type":"string"},"session_id":{"type":"string"},"audio_config":{"$ref":"audio-config.schema.json"},"metadata":{"title":"CallMetadata","type":"object","properties":{"scenario_id":{"type":"string"},"persona":{"type":"string"},"context":{},"audio_config":{"$ref":"audio-config.schema.json"}}}},"examples":[{"type":"start_call","audio_config":{"codec":"opus"}},{"type":"start_call","user_id":"sim_user_k3v9","session_id":"session-1","metadata":{"scenario_id":"late-parcel","persona":"impatient","context":"second call today","audio_config":{"codec":"opus","sampleRate":48000}}}],"x-near-misses":[{"breaks":"/type","value":{"audio_config":{"codec":"opus"}}},{"breaks":"/audio_config","value":{"type":"start_call","audio_config":"opus"}}]};

function validate51(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="start-call.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if("start_call" !== data0){
const err2 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "start_call"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.user_id !== undefined){
if(typeof data.user_id !== "string"){
const err3 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err4 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.audio_config !== undefined){
let data3 = data.audio_config;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.codec === undefined){
const err5 = {instancePath:instancePath+"/audio_config",schemaPath:"audio-config.schema.json/required",keyword:"required",params:{missingProperty: "codec"},message:"must have required property '"+"codec"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data3.codec !== undefined){
if(typeof data3.codec !== "string"){
const err6 = {instancePath:instancePath+"/audio_config/codec",schemaPath:"audio-config.schema.json/properties/codec/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data3.sampleRate !== undefined){
let data5 = data3.sampleRate;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err7 = {instancePath:instancePath+"/audio_config/sampleRate",schemaPath:"audio-config.schema.json/properties/sampleRate/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/audio_config",schemaPath:"audio-config.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.metadata !== undefined){
let data6 = data.metadata;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.scenario_id !== undefined){
if(typeof data6.scenario_id !== "string"){
const err9 = {instancePath:instancePath+"/metadata/scenario_id",schemaPath:"#/properties/metadata/properties/scenario_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data6.persona !== undefined){
if(typeof data6.persona !== "string"){
const err10 = {instancePath:instancePath+"/metadata/persona",schemaPath:"#/properties/metadata/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data6.audio_config !== undefined){
let data9 = data6.audio_config;
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
if(data9.codec === undefined){
const err11 = {instancePath:instancePath+"/metadata/audio_config",schemaPath:"audio-config.schema.json/required",keyword:"required",params:{missingProperty: "codec"},message:"must have required property '"+"codec"+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data9.codec !== undefined){
if(typeof data9.codec !== "string"){
const err12 = {instancePath:instancePath+"/metadata/audio_config/codec",schemaPath:"audio-config.schema.json/properties/codec/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data9.sampleRate !== undefined){
let data11 = data9.sampleRate;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
const err13 = {instancePath:instancePath+"/metadata/audio_config/sampleRate",schemaPath:"audio-config.schema.json/properties/sampleRate/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath:instancePath+"/metadata/audio_config",schemaPath:"audio-config.schema.json/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate51.errors = vErrors;
return errors === 0;
}

export const TestedAgent = validate52;
const schema90 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"tested-agent.schema.json","title":"TestedAgent","$comment":"ours; /__admin/agents and the seed document; its name is shown: spec 2.4","description":"An agent in a sandbox, as simulations know it: its name, its address and the key of the sandbox.","x-extension":true,"type":"object","required":["name","url"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,128}$","description":"That of the agent of the same name when left out, else made from the name."},"name":{"type":"string","pattern":"^[^\\r\\n]{1,200}$","description":"Shown as agent in results (spec 2.4)."},"url":{"type":"string","pattern":"^https?://[^\\s/?#@]+(/[^\\s?#]*)?$","description":"Base address of the sandbox: http or https, without user and password."},"api_key":{"type":"string","pattern":"^[\\x21-\\x7e]{1,4096}$","description":"The sandbox's bearer key, visible ASCII. Kept, and never shown again."}},"examples":[{"id":"shop","name":"Shop agent","url":"https://shop.example/agent","api_key":"sandbox-test-key"},{"name":"Local","url":"http://127.0.0.1:8080"}],"x-near-misses":[{"breaks":"/url","value":{"name":"Shop agent"}},{"breaks":"/url","value":{"name":"Shop agent","url":"shop.example"}},{"breaks":"/url","value":{"name":"Shop agent","url":"https://me:secret@shop.example"}},{"breaks":"/api_key","value":{"name":"Shop agent","url":"https://shop.example","api_key":""}}]};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="tested-agent.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.url === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "url"},message:"must have required property '"+"url"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "id") || (key0 === "name")) || (key0 === "url")) || (key0 === "api_key"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(!pattern8.test(data0)){
const err3 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_.-]{1,128}$"},message:"must match pattern \""+"^[A-Za-z0-9_.-]{1,128}$"+"\""};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.name !== undefined){
let data1 = data.name;
if(typeof data1 === "string"){
if(!pattern3.test(data1)){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.url !== undefined){
let data2 = data.url;
if(typeof data2 === "string"){
if(!pattern53.test(data2)){
const err7 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/pattern",keyword:"pattern",params:{pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"},message:"must match pattern \""+"^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"+"\""};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.api_key !== undefined){
let data3 = data.api_key;
if(typeof data3 === "string"){
if(!pattern54.test(data3)){
const err9 = {instancePath:instancePath+"/api_key",schemaPath:"#/properties/api_key/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]{1,4096}$"},message:"must match pattern \""+"^[\\x21-\\x7e]{1,4096}$"+"\""};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/api_key",schemaPath:"#/properties/api_key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate52.errors = vErrors;
return errors === 0;
}

export const ToolCall = validate53;

function validate53(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="tool-call.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.type === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.function === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "function"},message:"must have required property '"+"function"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.id !== undefined){
if(typeof data.id !== "string"){
const err3 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.type !== undefined){
let data1 = data.type;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if("function" !== data1){
const err5 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "function"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.function !== undefined){
let data2 = data.function;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.name === undefined){
const err6 = {instancePath:instancePath+"/function",schemaPath:"#/properties/function/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2.arguments === undefined){
const err7 = {instancePath:instancePath+"/function",schemaPath:"#/properties/function/required",keyword:"required",params:{missingProperty: "arguments"},message:"must have required property '"+"arguments"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data2.result === undefined){
const err8 = {instancePath:instancePath+"/function",schemaPath:"#/properties/function/required",keyword:"required",params:{missingProperty: "result"},message:"must have required property '"+"result"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data2.name !== undefined){
if(typeof data2.name !== "string"){
const err9 = {instancePath:instancePath+"/function/name",schemaPath:"#/properties/function/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.arguments !== undefined){
if(typeof data2.arguments !== "string"){
const err10 = {instancePath:instancePath+"/function/arguments",schemaPath:"#/properties/function/properties/arguments/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data2.result !== undefined){
let data5 = data2.result;
if(!(data5 && typeof data5 == "object" && !Array.isArray(data5))){
const err11 = {instancePath:instancePath+"/function/result",schemaPath:"#/properties/function/properties/result/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/function",schemaPath:"#/properties/function/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate53.errors = vErrors;
return errors === 0;
}

export const TraceExportRequest = validate54;
const schema92 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"trace-export-request.schema.json","title":"TraceExportRequest","$comment":"spec 2.1, 4.1","description":"What POST /v1/traces takes: an OTLP trace export request in its JSON encoding. Of its parts, those that the service reads; all others are ignored.","type":"object","properties":{"resourceSpans":{"type":"array","items":{"title":"ResourceSpans","type":"object","properties":{"resource":{"title":"Resource","type":"object","properties":{"attributes":{"description":"Each becomes a tag of the conversation, unless its key begins with gen_ai.","type":"array","items":{"$ref":"#/definitions/keyValue"}}}},"scopeSpans":{"type":"array","items":{"title":"ScopeSpans","type":"object","properties":{"scope":{"title":"InstrumentationScope","type":"object","properties":{"name":{"type":"string"}}},"spans":{"type":"array","items":{"$ref":"#/definitions/span"}}}}}}}}},"definitions":{"span":{"title":"Span","type":"object","required":["traceId","spanId"],"properties":{"traceId":{"description":"Hexadecimal digits, no base64.","type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"spanId":{"description":"Hexadecimal digits, no base64.","type":"string","pattern":"^[0-9A-Fa-f]{16}$"},"parentSpanId":{"description":"Empty or missing for the root of a trace.","type":"string","pattern":"^([0-9A-Fa-f]{16})?$"},"name":{"type":"string"},"startTimeUnixNano":{"$ref":"#/definitions/nanoseconds"},"endTimeUnixNano":{"$ref":"#/definitions/nanoseconds"},"attributes":{"type":"array","items":{"$ref":"#/definitions/keyValue"}},"status":{"title":"SpanStatus","type":"object","properties":{"code":{"description":"0 unset, 1 ok, 2 error.","type":"integer","minimum":0,"maximum":2},"message":{"type":"string"}}}}},"nanoseconds":{"title":"Nanoseconds","description":"Nanoseconds since the Unix epoch. A string keeps what a JSON number would round.","anyOf":[{"type":"string","pattern":"^[0-9]{1,20}$"},{"type":"integer","minimum":0}]},"keyValue":{"title":"KeyValue","type":"object","required":["key"],"properties":{"key":{"type":"string"},"value":{"$ref":"#/definitions/anyValue"}}},"anyValue":{"title":"AnyValue","description":"One of these; none of them is the empty value.","type":"object","properties":{"stringValue":{"type":"string"},"boolValue":{"type":"boolean"},"intValue":{"description":"64 bits, signed.","anyOf":[{"type":"string","pattern":"^-?[0-9]{1,19}$"},{"type":"integer"}]},"doubleValue":{"anyOf":[{"type":"number"},{"type":"string","enum":["NaN","Infinity","-Infinity"]}]},"arrayValue":{"title":"ArrayValue","type":"object","properties":{"values":{"type":"array","items":{"$ref":"#/definitions/anyValue"}}}},"kvlistValue":{"title":"KeyValueList","type":"object","properties":{"values":{"type":"array","items":{"$ref":"#/definitions/keyValue"}}}},"bytesValue":{"description":"Base64.","type":"string","pattern":"^[A-Za-z0-9+/_-]*={0,2}$"}}}},"examples":[{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"shop-agent"},"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"chat gpt-4o","startTimeUnixNano":"1795167000000000000","endTimeUnixNano":"1795167001500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"c-1"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Where is my order?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"On its way.\"}],\"finish_reason\":\"stop\"}]"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}}],"status":{"code":1}}]}]}]},{"resourceSpans":[]},{}],"x-near-misses":[{"breaks":"/resourceSpans","value":{"resourceSpans":{}}},{"breaks":"/resourceSpans/0/scopeSpans/0/spans/0/startTimeUnixNano","value":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","startTimeUnixNano":"2026-11-20T09:30:00Z"}]}]}]}},{"breaks":"/resourceSpans/0/scopeSpans/0/spans/0/status/code","value":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","status":{"code":"STATUS_CODE_ERROR"}}]}]}]}},{"breaks":"/resourceSpans/0/scopeSpans/0/spans/0/attributes","value":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":{"gen_ai.operation.name":"chat"}}]}]}]}},{"breaks":"/resourceSpans/0/scopeSpans/0/spans/0/attributes/0/value","value":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":[{"key":"gen_ai.operation.name","value":"chat"}]}]}]}]}},{"breaks":"/resourceSpans/0/scopeSpans/0/spans/0/attributes/0/value/intValue","value":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"twelve"}}]}]}]}]}}]};
const schema93 = {"title":"KeyValue","type":"object","required":["key"],"properties":{"key":{"type":"string"},"value":{"$ref":"#/definitions/anyValue"}}};
const schema94 = {"title":"AnyValue","description":"One of these; none of them is the empty value.","type":"object","properties":{"stringValue":{"type":"string"},"boolValue":{"type":"boolean"},"intValue":{"description":"64 bits, signed.","anyOf":[{"type":"string","pattern":"^-?[0-9]{1,19}$"},{"type":"integer"}]},"doubleValue":{"anyOf":[{"type":"number"},{"type":"string","enum":["NaN","Infinity","-Infinity"]}]},"arrayValue":{"title":"ArrayValue","type":"object","properties":{"values":{"type":"array","items":{"$ref":"#/definitions/anyValue"}}}},"kvlistValue":{"title":"KeyValueList","type":"object","properties":{"values":{"type":"array","items":{"$ref":"#/definitions/keyValue"}}}},"bytesValue":{"description":"Base64.","type":"string","pattern":"^[A-Za-z0-9+/_-]*={0,2}$"}}};
const pattern90 = new RegExp("^-?[0-9]{1,19}$", "u");
const pattern91 = new RegExp("^[A-Za-z0-9+/_-]*={0,2}$", "u");
const wrapper0 = {validate: validate56};
const wrapper1 = {validate: validate55};

function validate56(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.stringValue !== undefined){
if(typeof data.stringValue !== "string"){
const err0 = {instancePath:instancePath+"/stringValue",schemaPath:"#/properties/stringValue/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.boolValue !== undefined){
if(typeof data.boolValue !== "boolean"){
const err1 = {instancePath:instancePath+"/boolValue",schemaPath:"#/properties/boolValue/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.intValue !== undefined){
let data2 = data.intValue;
const _errs6 = errors;
let valid1 = false;
const _errs7 = errors;
if(typeof data2 === "string"){
if(!pattern90.test(data2)){
const err2 = {instancePath:instancePath+"/intValue",schemaPath:"#/properties/intValue/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^-?[0-9]{1,19}$"},message:"must match pattern \""+"^-?[0-9]{1,19}$"+"\""};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/intValue",schemaPath:"#/properties/intValue/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs7 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs9 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err4 = {instancePath:instancePath+"/intValue",schemaPath:"#/properties/intValue/anyOf/1/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err5 = {instancePath:instancePath+"/intValue",schemaPath:"#/properties/intValue/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
errors = _errs6;
if(vErrors !== null){
if(_errs6){
vErrors.length = _errs6;
}
else {
vErrors = null;
}
}
}
}
if(data.doubleValue !== undefined){
let data3 = data.doubleValue;
const _errs12 = errors;
let valid2 = false;
const _errs13 = errors;
if(!((typeof data3 == "number") && (isFinite(data3)))){
const err6 = {instancePath:instancePath+"/doubleValue",schemaPath:"#/properties/doubleValue/anyOf/0/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
var _valid1 = _errs13 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs15 = errors;
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/doubleValue",schemaPath:"#/properties/doubleValue/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(!(((data3 === "NaN") || (data3 === "Infinity")) || (data3 === "-Infinity"))){
const err8 = {instancePath:instancePath+"/doubleValue",schemaPath:"#/properties/doubleValue/anyOf/1/enum",keyword:"enum",params:{allowedValues: schema94.properties.doubleValue.anyOf[1].enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
var _valid1 = _errs15 === errors;
valid2 = valid2 || _valid1;
}
if(!valid2){
const err9 = {instancePath:instancePath+"/doubleValue",schemaPath:"#/properties/doubleValue/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
else {
errors = _errs12;
if(vErrors !== null){
if(_errs12){
vErrors.length = _errs12;
}
else {
vErrors = null;
}
}
}
}
if(data.arrayValue !== undefined){
let data4 = data.arrayValue;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(data4.values !== undefined){
let data5 = data4.values;
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
if(!(wrapper0.validate(data5[i0], {instancePath:instancePath+"/arrayValue/values/" + i0,parentData:data5,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? wrapper0.validate.errors : vErrors.concat(wrapper0.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err10 = {instancePath:instancePath+"/arrayValue/values",schemaPath:"#/properties/arrayValue/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/arrayValue",schemaPath:"#/properties/arrayValue/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.kvlistValue !== undefined){
let data7 = data.kvlistValue;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.values !== undefined){
let data8 = data7.values;
if(Array.isArray(data8)){
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
if(!(wrapper1.validate(data8[i1], {instancePath:instancePath+"/kvlistValue/values/" + i1,parentData:data8,parentDataProperty:i1,rootData}))){
vErrors = vErrors === null ? wrapper1.validate.errors : vErrors.concat(wrapper1.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err12 = {instancePath:instancePath+"/kvlistValue/values",schemaPath:"#/properties/kvlistValue/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/kvlistValue",schemaPath:"#/properties/kvlistValue/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.bytesValue !== undefined){
let data10 = data.bytesValue;
if(typeof data10 === "string"){
if(!pattern91.test(data10)){
const err14 = {instancePath:instancePath+"/bytesValue",schemaPath:"#/properties/bytesValue/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9+/_-]*={0,2}$"},message:"must match pattern \""+"^[A-Za-z0-9+/_-]*={0,2}$"+"\""};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/bytesValue",schemaPath:"#/properties/bytesValue/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate56.errors = vErrors;
return errors === 0;
}


function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.key === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.key !== undefined){
if(typeof data.key !== "string"){
const err1 = {instancePath:instancePath+"/key",schemaPath:"#/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.value !== undefined){
if(!(validate56(data.value, {instancePath:instancePath+"/value",parentData:data,parentDataProperty:"value",rootData}))){
vErrors = vErrors === null ? validate56.errors : vErrors.concat(validate56.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate55.errors = vErrors;
return errors === 0;
}

const schema95 = {"title":"Span","type":"object","required":["traceId","spanId"],"properties":{"traceId":{"description":"Hexadecimal digits, no base64.","type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"spanId":{"description":"Hexadecimal digits, no base64.","type":"string","pattern":"^[0-9A-Fa-f]{16}$"},"parentSpanId":{"description":"Empty or missing for the root of a trace.","type":"string","pattern":"^([0-9A-Fa-f]{16})?$"},"name":{"type":"string"},"startTimeUnixNano":{"$ref":"#/definitions/nanoseconds"},"endTimeUnixNano":{"$ref":"#/definitions/nanoseconds"},"attributes":{"type":"array","items":{"$ref":"#/definitions/keyValue"}},"status":{"title":"SpanStatus","type":"object","properties":{"code":{"description":"0 unset, 1 ok, 2 error.","type":"integer","minimum":0,"maximum":2},"message":{"type":"string"}}}}};
const schema96 = {"title":"Nanoseconds","description":"Nanoseconds since the Unix epoch. A string keeps what a JSON number would round.","anyOf":[{"type":"string","pattern":"^[0-9]{1,20}$"},{"type":"integer","minimum":0}]};
const pattern92 = new RegExp("^[0-9A-Fa-f]{32}$", "u");
const pattern93 = new RegExp("^[0-9A-Fa-f]{16}$", "u");
const pattern94 = new RegExp("^([0-9A-Fa-f]{16})?$", "u");
const pattern95 = new RegExp("^[0-9]{1,20}$", "u");

function validate59(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.traceId === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "traceId"},message:"must have required property '"+"traceId"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.spanId === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "spanId"},message:"must have required property '"+"spanId"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.traceId !== undefined){
let data0 = data.traceId;
if(typeof data0 === "string"){
if(!pattern92.test(data0)){
const err2 = {instancePath:instancePath+"/traceId",schemaPath:"#/properties/traceId/pattern",keyword:"pattern",params:{pattern: "^[0-9A-Fa-f]{32}$"},message:"must match pattern \""+"^[0-9A-Fa-f]{32}$"+"\""};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/traceId",schemaPath:"#/properties/traceId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.spanId !== undefined){
let data1 = data.spanId;
if(typeof data1 === "string"){
if(!pattern93.test(data1)){
const err4 = {instancePath:instancePath+"/spanId",schemaPath:"#/properties/spanId/pattern",keyword:"pattern",params:{pattern: "^[0-9A-Fa-f]{16}$"},message:"must match pattern \""+"^[0-9A-Fa-f]{16}$"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/spanId",schemaPath:"#/properties/spanId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.parentSpanId !== undefined){
let data2 = data.parentSpanId;
if(typeof data2 === "string"){
if(!pattern94.test(data2)){
const err6 = {instancePath:instancePath+"/parentSpanId",schemaPath:"#/properties/parentSpanId/pattern",keyword:"pattern",params:{pattern: "^([0-9A-Fa-f]{16})?$"},message:"must match pattern \""+"^([0-9A-Fa-f]{16})?$"+"\""};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/parentSpanId",schemaPath:"#/properties/parentSpanId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.name !== undefined){
if(typeof data.name !== "string"){
const err8 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.startTimeUnixNano !== undefined){
let data4 = data.startTimeUnixNano;
const _errs11 = errors;
let valid2 = false;
const _errs12 = errors;
if(typeof data4 === "string"){
if(!pattern95.test(data4)){
const err9 = {instancePath:instancePath+"/startTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,20}$"},message:"must match pattern \""+"^[0-9]{1,20}$"+"\""};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/startTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
var _valid0 = _errs12 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs14 = errors;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err11 = {instancePath:instancePath+"/startTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/1/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 0 || isNaN(data4)){
const err12 = {instancePath:instancePath+"/startTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
var _valid0 = _errs14 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err13 = {instancePath:instancePath+"/startTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
else {
errors = _errs11;
if(vErrors !== null){
if(_errs11){
vErrors.length = _errs11;
}
else {
vErrors = null;
}
}
}
}
if(data.endTimeUnixNano !== undefined){
let data5 = data.endTimeUnixNano;
const _errs18 = errors;
let valid4 = false;
const _errs19 = errors;
if(typeof data5 === "string"){
if(!pattern95.test(data5)){
const err14 = {instancePath:instancePath+"/endTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,20}$"},message:"must match pattern \""+"^[0-9]{1,20}$"+"\""};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/endTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
var _valid1 = _errs19 === errors;
valid4 = valid4 || _valid1;
if(!valid4){
const _errs21 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err16 = {instancePath:instancePath+"/endTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/1/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
const err17 = {instancePath:instancePath+"/endTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
var _valid1 = _errs21 === errors;
valid4 = valid4 || _valid1;
}
if(!valid4){
const err18 = {instancePath:instancePath+"/endTimeUnixNano",schemaPath:"#/definitions/nanoseconds/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
else {
errors = _errs18;
if(vErrors !== null){
if(_errs18){
vErrors.length = _errs18;
}
else {
vErrors = null;
}
}
}
}
if(data.attributes !== undefined){
let data6 = data.attributes;
if(Array.isArray(data6)){
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
if(!(validate55(data6[i0], {instancePath:instancePath+"/attributes/" + i0,parentData:data6,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
}
else {
const err19 = {instancePath:instancePath+"/attributes",schemaPath:"#/properties/attributes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.status !== undefined){
let data8 = data.status;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.code !== undefined){
let data9 = data8.code;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err20 = {instancePath:instancePath+"/status/code",schemaPath:"#/properties/status/properties/code/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 2 || isNaN(data9)){
const err21 = {instancePath:instancePath+"/status/code",schemaPath:"#/properties/status/properties/code/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2},message:"must be <= 2"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data9 < 0 || isNaN(data9)){
const err22 = {instancePath:instancePath+"/status/code",schemaPath:"#/properties/status/properties/code/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data8.message !== undefined){
if(typeof data8.message !== "string"){
const err23 = {instancePath:instancePath+"/status/message",schemaPath:"#/properties/status/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
else {
const err24 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
validate59.errors = vErrors;
return errors === 0;
}


function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="trace-export-request.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.resourceSpans !== undefined){
let data0 = data.resourceSpans;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.resource !== undefined){
let data2 = data1.resource;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.attributes !== undefined){
let data3 = data2.attributes;
if(Array.isArray(data3)){
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
if(!(validate55(data3[i1], {instancePath:instancePath+"/resourceSpans/" + i0+"/resource/attributes/" + i1,parentData:data3,parentDataProperty:i1,rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath:instancePath+"/resourceSpans/" + i0+"/resource/attributes",schemaPath:"#/properties/resourceSpans/items/properties/resource/properties/attributes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
}
else {
const err1 = {instancePath:instancePath+"/resourceSpans/" + i0+"/resource",schemaPath:"#/properties/resourceSpans/items/properties/resource/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data1.scopeSpans !== undefined){
let data5 = data1.scopeSpans;
if(Array.isArray(data5)){
const len2 = data5.length;
for(let i2=0; i2<len2; i2++){
let data6 = data5[i2];
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.scope !== undefined){
let data7 = data6.scope;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.name !== undefined){
if(typeof data7.name !== "string"){
const err2 = {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans/" + i2+"/scope/name",schemaPath:"#/properties/resourceSpans/items/properties/scopeSpans/items/properties/scope/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans/" + i2+"/scope",schemaPath:"#/properties/resourceSpans/items/properties/scopeSpans/items/properties/scope/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data6.spans !== undefined){
let data9 = data6.spans;
if(Array.isArray(data9)){
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
if(!(validate59(data9[i3], {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans/" + i2+"/spans/" + i3,parentData:data9,parentDataProperty:i3,rootData}))){
vErrors = vErrors === null ? validate59.errors : vErrors.concat(validate59.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans/" + i2+"/spans",schemaPath:"#/properties/resourceSpans/items/properties/scopeSpans/items/properties/spans/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans/" + i2,schemaPath:"#/properties/resourceSpans/items/properties/scopeSpans/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/resourceSpans/" + i0+"/scopeSpans",schemaPath:"#/properties/resourceSpans/items/properties/scopeSpans/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/resourceSpans/" + i0,schemaPath:"#/properties/resourceSpans/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/resourceSpans",schemaPath:"#/properties/resourceSpans/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate54.errors = vErrors;
return errors === 0;
}

export const TranscriptUpload = validate62;

function validate62(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="transcript-upload.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.session_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "session_id"},message:"must have required property '"+"session_id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.turns === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "turns"},message:"must have required property '"+"turns"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "session_id") || (key0 === "started_at")) || (key0 === "turns")) || (key0 === "metadata")) || (key0 === "run")) || (key0 === "evals"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.session_id !== undefined){
let data0 = data.session_id;
if(typeof data0 === "string"){
if(!pattern67.test(data0)){
const err3 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,256}$"},message:"must match pattern \""+"^[^\\r\\n]{1,256}$"+"\""};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.started_at !== undefined){
let data1 = data.started_at;
if(typeof data1 === "string"){
if(!(formats0.test(data1))){
const err5 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.turns !== undefined){
let data2 = data.turns;
if(Array.isArray(data2)){
if(data2.length > 10000){
const err7 = {instancePath:instancePath+"/turns",schemaPath:"#/properties/turns/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data2.length < 1){
const err8 = {instancePath:instancePath+"/turns",schemaPath:"#/properties/turns/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.user_input === undefined){
const err9 = {instancePath:instancePath+"/turns/" + i0,schemaPath:"#/properties/turns/items/required",keyword:"required",params:{missingProperty: "user_input"},message:"must have required property '"+"user_input"+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data3.agent_response === undefined){
const err10 = {instancePath:instancePath+"/turns/" + i0,schemaPath:"#/properties/turns/items/required",keyword:"required",params:{missingProperty: "agent_response"},message:"must have required property '"+"agent_response"+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
for(const key1 in data3){
if(!(((key1 === "user_input") || (key1 === "agent_response")) || (key1 === "evaluation_metadata"))){
const err11 = {instancePath:instancePath+"/turns/" + i0,schemaPath:"#/properties/turns/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data3.user_input !== undefined){
if(typeof data3.user_input !== "string"){
const err12 = {instancePath:instancePath+"/turns/" + i0+"/user_input",schemaPath:"#/properties/turns/items/properties/user_input/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data3.agent_response !== undefined){
if(typeof data3.agent_response !== "string"){
const err13 = {instancePath:instancePath+"/turns/" + i0+"/agent_response",schemaPath:"#/properties/turns/items/properties/agent_response/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data3.evaluation_metadata !== undefined){
let data6 = data3.evaluation_metadata;
if(!(data6 && typeof data6 == "object" && !Array.isArray(data6))){
const err14 = {instancePath:instancePath+"/turns/" + i0+"/evaluation_metadata",schemaPath:"#/properties/turns/items/properties/evaluation_metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/turns/" + i0,schemaPath:"#/properties/turns/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath:instancePath+"/turns",schemaPath:"#/properties/turns/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.metadata !== undefined){
let data7 = data.metadata;
if(!(data7 && typeof data7 == "object" && !Array.isArray(data7))){
const err17 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.run !== undefined){
let data8 = data.run;
if(typeof data8 === "string"){
if(!pattern3.test(data8)){
const err18 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/pattern",keyword:"pattern",params:{pattern: "^[^\\r\\n]{1,200}$"},message:"must match pattern \""+"^[^\\r\\n]{1,200}$"+"\""};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.evals !== undefined){
let data9 = data.evals;
if(Array.isArray(data9)){
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
if(typeof data9[i1] !== "string"){
const err20 = {instancePath:instancePath+"/evals/" + i1,schemaPath:"#/properties/evals/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/evals",schemaPath:"#/properties/evals/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
validate62.errors = vErrors;
return errors === 0;
}

export const UserCreateRequest = validate63;
const schema99 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"user-create-request.schema.json","title":"UserCreateRequest","$comment":"spec 2.9","description":"What the service sends to POST /users before a simulation.","type":"object","required":["user_id"],"properties":{"user_id":{"description":"ASCII letters, digits and underscore, at most 64 characters.","type":"string","pattern":"^[A-Za-z0-9_]{1,64}$"},"metadata":{"title":"UserMetadata","type":"object","properties":{"scenario_id":{"type":"string"},"persona":{"type":"string"},"session_type":{"type":"string"},"preferences":{"type":"object"},"history":{"type":"object"}}},"profile":{"title":"UserProfile","type":"object","properties":{"name":{"type":"string"},"email":{"type":"string"},"tier":{"type":"string"},"location":{"type":"string"}}}},"examples":[{"user_id":"sim_user_k3v9"},{"user_id":"sim_user_k3v9","metadata":{"scenario_id":"late-parcel","persona":"impatient","session_type":"chat","preferences":{"language":"en"},"history":{"orders":3}},"profile":{"name":"Ada Example","email":"ada@example.com","tier":"gold","location":"Zurich"}}],"x-near-misses":[{"breaks":"/user_id","value":{"profile":{"name":"Ada Example"}}},{"breaks":"/user_id","value":{"user_id":7}},{"breaks":"/user_id","value":{"user_id":"sim-user-7"}},{"breaks":"/user_id","value":{"user_id":""}},{"breaks":"/user_id","value":{"user_id":"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg"}}]};
const pattern99 = new RegExp("^[A-Za-z0-9_]{1,64}$", "u");

function validate63(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="user-create-request.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.user_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "user_id"},message:"must have required property '"+"user_id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.user_id !== undefined){
let data0 = data.user_id;
if(typeof data0 === "string"){
if(!pattern99.test(data0)){
const err1 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9_]{1,64}$"+"\""};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.metadata !== undefined){
let data1 = data.metadata;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.scenario_id !== undefined){
if(typeof data1.scenario_id !== "string"){
const err3 = {instancePath:instancePath+"/metadata/scenario_id",schemaPath:"#/properties/metadata/properties/scenario_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data1.persona !== undefined){
if(typeof data1.persona !== "string"){
const err4 = {instancePath:instancePath+"/metadata/persona",schemaPath:"#/properties/metadata/properties/persona/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.session_type !== undefined){
if(typeof data1.session_type !== "string"){
const err5 = {instancePath:instancePath+"/metadata/session_type",schemaPath:"#/properties/metadata/properties/session_type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.preferences !== undefined){
let data5 = data1.preferences;
if(!(data5 && typeof data5 == "object" && !Array.isArray(data5))){
const err6 = {instancePath:instancePath+"/metadata/preferences",schemaPath:"#/properties/metadata/properties/preferences/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.history !== undefined){
let data6 = data1.history;
if(!(data6 && typeof data6 == "object" && !Array.isArray(data6))){
const err7 = {instancePath:instancePath+"/metadata/history",schemaPath:"#/properties/metadata/properties/history/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.profile !== undefined){
let data7 = data.profile;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.name !== undefined){
if(typeof data7.name !== "string"){
const err9 = {instancePath:instancePath+"/profile/name",schemaPath:"#/properties/profile/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data7.email !== undefined){
if(typeof data7.email !== "string"){
const err10 = {instancePath:instancePath+"/profile/email",schemaPath:"#/properties/profile/properties/email/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data7.tier !== undefined){
if(typeof data7.tier !== "string"){
const err11 = {instancePath:instancePath+"/profile/tier",schemaPath:"#/properties/profile/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data7.location !== undefined){
if(typeof data7.location !== "string"){
const err12 = {instancePath:instancePath+"/profile/location",schemaPath:"#/properties/profile/properties/location/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/profile",schemaPath:"#/properties/profile/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
validate63.errors = vErrors;
return errors === 0;
}

export const UserCreated = validate64;
const schema100 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"user-created.schema.json","title":"UserCreated","$comment":"spec 2.9","description":"What the sandbox answers when it has created a simulated user.","type":"object","required":["user_id","created_at","status"],"properties":{"user_id":{"description":"The id of the request.","type":"string"},"created_at":{"description":"When the user came to be.","type":"string","format":"iso8601"},"status":{"type":"string","enum":["active","inactive","pending"]},"session_id":{"type":"string"},"profile_id":{"type":"string"},"capabilities":{"type":"array","items":{"type":"string"}}},"examples":[{"user_id":"sim_user_k3v9","created_at":"2026-11-20T09:30:00Z","status":"active"},{"user_id":"sim_user_k3v9","created_at":"2026-11-20T10:30:00.123456789+01:00","status":"pending","session_id":"session-1","profile_id":"profile-1","capabilities":["chat","voice"]}],"x-near-misses":[{"breaks":"/user_id","value":{"created_at":"2026-11-20T09:30:00Z","status":"active"}},{"breaks":"/created_at","value":{"user_id":"u","created_at":"20 Nov 2026","status":"active"}},{"breaks":"/created_at","value":{"user_id":"u","created_at":1795167000,"status":"active"}},{"breaks":"/status","value":{"user_id":"u","created_at":"2026-11-20T09:30:00Z","status":"created"}}]};

function validate64(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="user-created.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.user_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "user_id"},message:"must have required property '"+"user_id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.created_at === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "created_at"},message:"must have required property '"+"created_at"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.status === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.user_id !== undefined){
if(typeof data.user_id !== "string"){
const err3 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.created_at !== undefined){
let data1 = data.created_at;
if(typeof data1 === "string"){
if(!(formats0.test(data1))){
const err4 = {instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.status !== undefined){
let data2 = data.status;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(((data2 === "active") || (data2 === "inactive")) || (data2 === "pending"))){
const err7 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/enum",keyword:"enum",params:{allowedValues: schema100.properties.status.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err8 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.profile_id !== undefined){
if(typeof data.profile_id !== "string"){
const err9 = {instancePath:instancePath+"/profile_id",schemaPath:"#/properties/profile_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.capabilities !== undefined){
let data5 = data.capabilities;
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
if(typeof data5[i0] !== "string"){
const err10 = {instancePath:instancePath+"/capabilities/" + i0,schemaPath:"#/properties/capabilities/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate64.errors = vErrors;
return errors === 0;
}

export const UserDeleted = validate65;
const schema101 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"user-deleted.schema.json","title":"UserDeleted","$comment":"spec 2.9","description":"What the sandbox answers when it has deleted a simulated user.","type":"object","required":["user_id","deleted_at","status"],"properties":{"user_id":{"description":"The id of the path.","type":"string"},"deleted_at":{"description":"When the user was deleted.","type":"string","format":"iso8601"},"status":{"type":"string","const":"deleted"}},"examples":[{"user_id":"sim_user_k3v9","deleted_at":"2026-11-20T09:31:00Z","status":"deleted"}],"x-near-misses":[{"breaks":"/status","value":{"user_id":"u","deleted_at":"2026-11-20T09:31:00Z","status":"inactive"}},{"breaks":"/deleted_at","value":{"user_id":"u","status":"deleted"}},{"breaks":"/user_id","value":{"deleted_at":"2026-11-20T09:31:00Z","status":"deleted"}}]};

function validate65(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="user-deleted.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.user_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "user_id"},message:"must have required property '"+"user_id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.deleted_at === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "deleted_at"},message:"must have required property '"+"deleted_at"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.status === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.user_id !== undefined){
if(typeof data.user_id !== "string"){
const err3 = {instancePath:instancePath+"/user_id",schemaPath:"#/properties/user_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.deleted_at !== undefined){
let data1 = data.deleted_at;
if(typeof data1 === "string"){
if(!(formats0.test(data1))){
const err4 = {instancePath:instancePath+"/deleted_at",schemaPath:"#/properties/deleted_at/format",keyword:"format",params:{format: "iso8601"},message:"must match format \""+"iso8601"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/deleted_at",schemaPath:"#/properties/deleted_at/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.status !== undefined){
let data2 = data.status;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if("deleted" !== data2){
const err7 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/const",keyword:"const",params:{allowedValue: "deleted"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate65.errors = vErrors;
return errors === 0;
}

export const VoiceError = validate66;
const schema102 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"voice-error.schema.json","title":"VoiceError","$comment":"spec 6, 7","description":"Sandbox to service: the call failed. The named codes are connection_failed and audio_error.","type":"object","required":["type","error"],"properties":{"type":{"type":"string","const":"error"},"error":{"title":"VoiceErrorDetail","type":"object","required":["code","message"],"properties":{"code":{"type":"string"},"message":{"type":"string"},"details":{"type":"string"}}}},"examples":[{"type":"error","error":{"code":"audio_error","message":"The codec g729 is not supported.","details":"Supported: opus."}}],"x-near-misses":[{"breaks":"/error/code","value":{"type":"error","error":{"message":"failed"}}},{"breaks":"/error","value":{"type":"error","error":"audio_error"}}]};

function validate66(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="voice-error.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.error === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "error"},message:"must have required property '"+"error"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("error" !== data0){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "error"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.error !== undefined){
let data1 = data.error;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.code === undefined){
const err4 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "code"},message:"must have required property '"+"code"+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1.message === undefined){
const err5 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/required",keyword:"required",params:{missingProperty: "message"},message:"must have required property '"+"message"+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data1.code !== undefined){
if(typeof data1.code !== "string"){
const err6 = {instancePath:instancePath+"/error/code",schemaPath:"#/properties/error/properties/code/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.message !== undefined){
if(typeof data1.message !== "string"){
const err7 = {instancePath:instancePath+"/error/message",schemaPath:"#/properties/error/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.details !== undefined){
if(typeof data1.details !== "string"){
const err8 = {instancePath:instancePath+"/error/details",schemaPath:"#/properties/error/properties/details/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/error",schemaPath:"#/properties/error/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate66.errors = vErrors;
return errors === 0;
}

export const WebrtcAnswer = validate67;
const schema103 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"webrtc-answer.schema.json","title":"WebrtcAnswer","$comment":"our extension; the specification shows no message that carries the answer","description":"Service to sandbox: the SDP answer, with all candidates in it.","x-extension":true,"type":"object","required":["type","call_id","webrtc_answer"],"properties":{"type":{"type":"string","const":"webrtc_answer"},"session_id":{"type":"string"},"call_id":{"type":"string"},"webrtc_answer":{"title":"WebrtcAnswerDescription","type":"object","required":["type","sdp"],"properties":{"type":{"type":"string","const":"answer"},"sdp":{"type":"string"}}}},"examples":[{"type":"webrtc_answer","session_id":"session-1","call_id":"call-1","webrtc_answer":{"type":"answer","sdp":"v=0\r\n"}}],"x-near-misses":[{"breaks":"/webrtc_answer","value":{"type":"webrtc_answer","call_id":"call-1"}}]};

function validate67(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="webrtc-answer.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.call_id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "call_id"},message:"must have required property '"+"call_id"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.webrtc_answer === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "webrtc_answer"},message:"must have required property '"+"webrtc_answer"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if("webrtc_answer" !== data0){
const err4 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "webrtc_answer"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.session_id !== undefined){
if(typeof data.session_id !== "string"){
const err5 = {instancePath:instancePath+"/session_id",schemaPath:"#/properties/session_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.call_id !== undefined){
if(typeof data.call_id !== "string"){
const err6 = {instancePath:instancePath+"/call_id",schemaPath:"#/properties/call_id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.webrtc_answer !== undefined){
let data3 = data.webrtc_answer;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.type === undefined){
const err7 = {instancePath:instancePath+"/webrtc_answer",schemaPath:"#/properties/webrtc_answer/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3.sdp === undefined){
const err8 = {instancePath:instancePath+"/webrtc_answer",schemaPath:"#/properties/webrtc_answer/required",keyword:"required",params:{missingProperty: "sdp"},message:"must have required property '"+"sdp"+"'"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data3.type !== undefined){
let data4 = data3.type;
if(typeof data4 !== "string"){
const err9 = {instancePath:instancePath+"/webrtc_answer/type",schemaPath:"#/properties/webrtc_answer/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if("answer" !== data4){
const err10 = {instancePath:instancePath+"/webrtc_answer/type",schemaPath:"#/properties/webrtc_answer/properties/type/const",keyword:"const",params:{allowedValue: "answer"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data3.sdp !== undefined){
if(typeof data3.sdp !== "string"){
const err11 = {instancePath:instancePath+"/webrtc_answer/sdp",schemaPath:"#/properties/webrtc_answer/properties/sdp/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/webrtc_answer",schemaPath:"#/properties/webrtc_answer/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate67.errors = vErrors;
return errors === 0;
}

