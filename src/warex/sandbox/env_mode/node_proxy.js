// Given to every Node. One that does not heed the proxy variables by itself (before 22.21) then does:
// its fetch and its http and https modules, as later ones under NODE_USE_ENV_PROXY. So do, in every
// Node, the WebSockets of the package ws, which makes its connections itself.
'use strict';
const [major, minor] = process.versions.node.split('.').map(Number);
const heedsThem = major > 23 || (major === 22 && minor >= 21);
const proxy = parsed(process.env.HTTPS_PROXY || process.env.https_proxy);
if (proxy) install(require('http'), require('https'), require('tls'));

function parsed(text) {
  try {
    return text ? new URL(text) : null;
  } catch {
    return null;
  }
}

function isDirect(host) {
  const bare = String(host).replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || /^127\./.test(bare);
}

function install(http, https, tls) {
  const plain = http.Agent;
  const direct = new plain();

  // A tunnel for plain HTTP, too: the proxy reads what is in it.
  function tunnel(host, port, done) {
    const name = String(host).includes(':') && !String(host).startsWith('[') ? `[${host}]` : host;
    const asked = http.request({
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: `${name}:${port}`,
      headers: {host: `${name}:${port}`},
      agent: direct,
    });
    asked.on('connect', (answer, socket) => {
      if (answer.statusCode === 200) return done(null, socket);
      socket.destroy();
      done(new Error(`the proxy answered ${answer.statusCode} to CONNECT ${name}:${port}`));
    });
    asked.on('error', done);
    asked.end();
  }

  function secured(options, socket, done) {
    const secure = tls.connect({...options, socket});
    const failed = (error) => done(error);
    secure.once('error', failed);
    secure.once('secureConnect', () => {
      secure.removeListener('error', failed);
      done(null, secure);
    });
  }

  class PlainAgent extends plain {
    createConnection(options, done) {
      if (isDirect(options.host) || options.socketPath) return super.createConnection(options, done);
      tunnel(options.host, options.port || 80, done);
    }
  }
  class SecureAgent extends https.Agent {
    createConnection(options, done) {
      if (isDirect(options.host) || options.socketPath) return super.createConnection(options, done);
      tunnel(options.host, options.port || 443, (error, socket) =>
        error ? done(error) : secured({servername: options.host, ...options}, socket, done));
    }
  }
  openSocketsBy(http, new PlainAgent());
  openSocketsBy(https, new SecureAgent());
  if (heedsThem) return;
  http.globalAgent = new PlainAgent(http.globalAgent.options);
  https.globalAgent = new SecureAgent(https.globalAgent.options);

  function openSocketsBy(module, agent) {
    const {request} = module;
    module.request = function (...given) {
      const [options] = given;
      const upgrade = options?.headers?.Upgrade;
      if (upgrade === 'websocket' && options.createConnection && !options.agent && !options.socketPath
          && !isDirect(options.host)) given[0] = {...options, agent, createConnection: undefined};
      return request.apply(this, given);
    };
  }

  const fetches = globalThis.fetch;
  if (fetches) globalThis.fetch = function fetch(...given) {
    dispatchThroughProxy();
    return fetches.apply(this, given);
  };

  let installed = false;
  function dispatchThroughProxy() {
    if (installed) return;
    installed = true;
    new Headers();  // Loads what fetch is made of, and with it the dispatcher.
    const key = Symbol.for('undici.globalDispatcher.1');
    const usual = globalThis[key];
    // Somebody who has set one of their own knows where to go.
    if (usual?.constructor?.name !== 'Agent') return;
    const connects = (options, done) => {
      const port = options.port || (options.protocol === 'https:' ? 443 : 80);
      const host = options.hostname;
      const continued = (error, socket) => {
        if (error || options.protocol !== 'https:') return done(error, socket);
        const servername = options.servername || host;
        secured({servername, ALPNProtocols: ['http/1.1']}, socket, done);
      };
      if (!isDirect(host)) return tunnel(host, port, continued);
      const socket = require('net').connect({host: host.replace(/^\[|\]$/g, ''), port});
      const failed = (error) => continued(error);
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.removeListener('error', failed);
        continued(null, socket);
      });
    };
    globalThis[key] = new usual.constructor({connect: connects});
  }
}
