// What Coffer's exchanges cost in plain C: the same messages over the same kind of socket, with the
// same cryptography and the same store, and nothing else. No JSON is parsed, nobody is refused and
// nothing is wiped.
//
//   reference keys                    prints a public and a secret key, in Z85
//   reference echo ENDPOINT SECRET-KEY HEADER-BYTES BODY-BYTES
//   reference back ENDPOINT SECRET-KEY
//   reference front ENDPOINT SECRET-KEY BACK-ENDPOINT BACK-PUBLIC-KEY check|sign|create STORE
//
// `echo` answers each request with frames of these sizes. `front` stands for the vault and asks
// `back`, which stands for the authority, for two keys on each request. Then it does what the vault
// does: `check` opens two envelopes and compares MAC and identity; `sign` opens one, compares MAC
// and identity, derives a key and signs; `create` makes a phrase and its seed, seals both and opens
// them again, and writes four rows. Whatever came in one turn is committed at once, with
// `synchronous = FULL`.
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <secp256k1.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { frame_max = 4096, turn_max = 256, box_overhead = 28 };

typedef struct {
  char route[8];
  int route_size;
  unsigned long long id;
  uint8_t message[64];
} request;

typedef struct {
  uint8_t dek[32 + box_overhead], secret[128 + box_overhead];
  int secret_size;  // of what is sealed
} envelope;

static const char PHRASE[] =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
static const char WALLET[] = "11111111-2222-4333-8444-555555555555";
static uint8_t key_of_envelopes[32], key_of_identities[32], access_key[32];
static void *zmq_context;
static secp256k1_context *curve;

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "reference: %s failed\n", what);
  exit(1);
}

// Sockets

static void limit(void *socket) {
  int linger = 0;
  zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
}

static void *server(const char *endpoint, const char *secret) {
  void *socket = zmq_socket(zmq_context, ZMQ_ROUTER);
  int on = 1;
  limit(socket);
  zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &on, sizeof on);
  must(!zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret, 41), "the server's key");
  must(!zmq_bind(socket, endpoint), endpoint);
  return socket;
}

static void *client(const char *endpoint, const char *server_key) {
  char public[41], secret[41];
  void *socket = zmq_socket(zmq_context, ZMQ_DEALER);
  limit(socket);
  must(!zmq_curve_keypair(public, secret), "a client's key");
  must(!zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_key, 41), "the other's key");
  zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public, 41);
  zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret, 41);
  must(!zmq_connect(socket, endpoint), endpoint);
  return socket;
}

static bool has_more(void *socket) {
  int more;
  size_t size = sizeof more;
  zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
  return more;
}

// Takes a request that waits: its route, its id and what it carries.
static bool take_request(void *socket, request *out) {
  char header[frame_max], frame[frame_max];
  out->route_size = zmq_recv(socket, out->route, sizeof out->route, ZMQ_DONTWAIT);
  if (out->route_size < 0) return false;
  int size = zmq_recv(socket, header, sizeof header - 1, 0);
  header[size] = 0;
  while (has_more(socket)) {
    size = zmq_recv(socket, frame, sizeof frame, 0);
    if (size >= 64) memcpy(out->message, frame, 64);
  }
  const char *id = strstr(header, "\"id\":");
  must(id, "a request's id");
  out->id = strtoull(id + 5, 0, 10);
  return true;
}

// Sends a reply's header, in a given length where one is given, and leaves the message open.
static void begin_reply(void *socket, const request *to, int header_size) {
  char header[frame_max];
  int size = sprintf(header, "{\"v\":1,\"id\":%llu,\"status\":\"ok\"}", to->id);
  for (; size < header_size; size++) header[size] = ' ';
  zmq_send(socket, to->route, (size_t)to->route_size, ZMQ_SNDMORE);
  zmq_send(socket, header, (size_t)size, ZMQ_SNDMORE);
}

static void reply(void *socket, const request *to, int header_size, int body_size) {
  char body[frame_max];
  memset(body, 'x', (size_t)body_size);
  begin_reply(socket, to, header_size);
  zmq_send(socket, body, (size_t)body_size, 0);
}

static void echo(void *socket, int header_size, int body_size) {
  zmq_pollitem_t wait = {.socket = socket, .events = ZMQ_POLLIN};
  request one;
  for (;;) {
    zmq_poll(&wait, 1, -1);
    for (int i = 0; i < turn_max && take_request(socket, &one); i++) {
      reply(socket, &one, header_size, body_size);
    }
  }
}

// Cryptography

static void hmac(const EVP_MD *md, const void *key, int key_size, const void *data, size_t size,
                 uint8_t *out) {
  must(HMAC(md, key, key_size, data, size, out, 0), "HMAC");
}

// HKDF-SHA256 of 32 bytes (RFC 5869).
static void hkdf(const uint8_t key[32], const char *salt, const char *info, uint8_t out[32]) {
  uint8_t middle[32], block[64];
  size_t size = strlen(info);
  hmac(EVP_sha256(), salt, (int)strlen(salt), key, 32, middle);
  memcpy(block, info, size);
  block[size++] = 1;
  hmac(EVP_sha256(), middle, 32, block, size, out);
}

// AES-256-GCM: nonce, ciphertext, tag.
static void seal(const uint8_t key[32], const char *about, const void *data, int size,
                 uint8_t *box) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int count;
  must(RAND_bytes(box, 12) == 1, "random bytes");
  must(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), 0, key, box) == 1, "a key");
  EVP_EncryptUpdate(context, 0, &count, (const uint8_t *)about, (int)strlen(about));
  EVP_EncryptUpdate(context, box + 12, &count, data, size);
  must(EVP_EncryptFinal_ex(context, box + 12 + size, &count) == 1, "sealing");
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, box + 12 + size);
  EVP_CIPHER_CTX_free(context);
}

static void open_box(const uint8_t key[32], const char *about, uint8_t *box, int size, void *data) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int count;
  must(EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), 0, key, box) == 1, "a key");
  EVP_DecryptUpdate(context, 0, &count, (const uint8_t *)about, (int)strlen(about));
  EVP_DecryptUpdate(context, data, &count, box + 12, size);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, box + 12 + size);
  must(EVP_DecryptFinal_ex(context, (uint8_t *)data + size, &count) == 1, "opening");
  EVP_CIPHER_CTX_free(context);
}

static const char ABOUT_DEK[] = "dek.v1:telegram:11111111-2222-4333-8444-555555555555";
static const char ABOUT_SECRET[] = "secret.v1:telegram:11111111-2222-4333-8444-555555555555";

static void seal_envelope(const void *secret, int size, envelope *out) {
  uint8_t dek[32];
  RAND_bytes(dek, sizeof dek);
  seal(key_of_envelopes, ABOUT_DEK, dek, sizeof dek, out->dek);
  seal(dek, ABOUT_SECRET, secret, size, out->secret);
  out->secret_size = size;
}

static void open_envelope(envelope *from, void *secret) {
  uint8_t dek[32 + 16];
  open_box(key_of_envelopes, ABOUT_DEK, from->dek, 32, dek);
  open_box(dek, ABOUT_SECRET, from->secret, from->secret_size, secret);
}

static void stretch(const char *phrase, uint8_t seed[64]) {
  must(PKCS5_PBKDF2_HMAC(phrase, (int)strlen(phrase), (const uint8_t *)"mnemonic", 8, 2048,
                         EVP_sha512(), 64, seed) == 1, "PBKDF2");
}

// The BIP-32 master public key of a seed, and the MAC of what stands beside the envelopes.
static void identify(const uint8_t seed[64], uint8_t identity[33], uint8_t mac[32]) {
  uint8_t master[64], beside[200];
  size_t size = 33;
  secp256k1_pubkey point;
  hmac(EVP_sha512(), "Bitcoin seed", 12, seed, 64, master);
  must(secp256k1_ec_pubkey_create(curve, &point, master), "a public key");
  secp256k1_ec_pubkey_serialize(curve, identity, &size, &point, SECP256K1_EC_COMPRESSED);
  memset(beside, 'x', sizeof beside);
  memcpy(beside, identity, 33);
  hmac(EVP_sha256(), key_of_identities, 32, beside, sizeof beside, mac);
}

// A signature by the Ed25519 key at m/44'/501'/0'/0' (SLIP-10).
static void sign(const uint8_t seed[64], const uint8_t message[64], uint8_t signature[64]) {
  static const uint32_t path[] = {44, 501, 0, 0};
  uint8_t node[64], step[37] = {0}, public[32], secret[64];
  hmac(EVP_sha512(), "ed25519 seed", 12, seed, 64, node);
  for (int level = 0; level < 4; level++) {
    uint32_t index = path[level] | 0x80000000u;
    memcpy(step + 1, node, 32);
    for (int i = 0; i < 4; i++) step[33 + i] = (uint8_t)(index >> (24 - 8 * i));
    hmac(EVP_sha512(), node + 32, 32, step, sizeof step, node);
  }
  crypto_sign_ed25519_seed_keypair(public, secret, node);
  crypto_sign_ed25519_detached(signature, 0, message, 64, secret);
}

// The store

static sqlite3 *store;
static sqlite3_stmt *find_wallet, *find_envelope, *add_wallet, *add_envelope, *add_outcome;

static void run(const char *text) {
  must(sqlite3_exec(store, text, 0, 0, 0) == SQLITE_OK, text);
}

static void prepare(const char *text, sqlite3_stmt **out) {
  must(sqlite3_prepare_v3(store, text, -1, SQLITE_PREPARE_PERSISTENT, out, 0) == SQLITE_OK, text);
}

static void step(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  must(code == SQLITE_DONE || code == SQLITE_ROW, "a statement");
}

static void open_store(const char *path) {
  must(sqlite3_open(path, &store) == SQLITE_OK, path);
  run("PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;"
      "PRAGMA secure_delete = ON;"
      "CREATE TABLE wallets (wallet TEXT PRIMARY KEY, kind TEXT, label TEXT, identity BLOB UNIQUE,"
      " mac BLOB);"
      "CREATE TABLE envelopes (ref TEXT PRIMARY KEY, document BLOB) WITHOUT ROWID;"
      "CREATE TABLE outcomes (key BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID;");
  prepare("SELECT identity, mac FROM wallets WHERE wallet = ?1", &find_wallet);
  prepare("SELECT document FROM envelopes WHERE ref = ?1", &find_envelope);
  prepare("INSERT INTO wallets VALUES (?1, 'bip39', 'A label', ?2, ?3)", &add_wallet);
  prepare("INSERT INTO envelopes VALUES (?1, ?2)", &add_envelope);
  prepare("INSERT INTO outcomes VALUES (?1, ?2)", &add_outcome);
}

static void read_envelope(const char *wallet, const char *part, envelope *out) {
  char ref[64];
  snprintf(ref, sizeof ref, "%s:%s", wallet, part);
  sqlite3_bind_text(find_envelope, 1, ref, -1, SQLITE_TRANSIENT);
  step(find_envelope);
  memcpy(out, sqlite3_column_blob(find_envelope, 0), sizeof *out);
  sqlite3_reset(find_envelope);
}

static void write_envelope(const char *wallet, const char *part, const envelope *one) {
  char ref[64];
  snprintf(ref, sizeof ref, "%s:%s", wallet, part);
  sqlite3_bind_text(add_envelope, 1, ref, -1, SQLITE_TRANSIENT);
  sqlite3_bind_blob(add_envelope, 2, one, sizeof *one, SQLITE_TRANSIENT);
  step(add_envelope);
  sqlite3_reset(add_envelope);
}

// The vault's work

static void confirm(const char *wallet, const uint8_t seed[64]) {
  uint8_t identity[33], mac[32];
  identify(seed, identity, mac);
  sqlite3_bind_text(find_wallet, 1, wallet, -1, SQLITE_TRANSIENT);
  step(find_wallet);
  bool is_same = !memcmp(identity, sqlite3_column_blob(find_wallet, 0), 33) &&
                 !memcmp(mac, sqlite3_column_blob(find_wallet, 1), 32);
  sqlite3_reset(find_wallet);
  must(is_same, "the identity");
}

static void do_check(const char *wallet) {
  envelope phrase, seed;
  uint8_t opened_seed[80], opened_phrase[160];
  read_envelope(wallet, "seed", &seed);
  read_envelope(wallet, "phrase", &phrase);
  open_envelope(&seed, opened_seed);
  open_envelope(&phrase, opened_phrase);
  confirm(wallet, opened_seed);
}

static void do_sign(const request *one) {
  envelope seed;
  uint8_t opened[80], signature[64];
  read_envelope(WALLET, "seed", &seed);
  open_envelope(&seed, opened);
  confirm(WALLET, opened);
  sign(opened, one->message, signature);
}

static void do_create(const char *wallet, const char *phrase) {
  envelope sealed_phrase, sealed_seed;
  uint8_t seed[64], identity[33], mac[32], opened[160], key[16], body[300] = {0};
  stretch(phrase, seed);
  identify(seed, identity, mac);
  seal_envelope(phrase, (int)strlen(phrase), &sealed_phrase);
  seal_envelope(seed, 64, &sealed_seed);
  sqlite3_bind_text(add_wallet, 1, wallet, -1, SQLITE_TRANSIENT);
  sqlite3_bind_blob(add_wallet, 2, identity, 33, SQLITE_TRANSIENT);
  sqlite3_bind_blob(add_wallet, 3, mac, 32, SQLITE_TRANSIENT);
  step(add_wallet);
  sqlite3_reset(add_wallet);
  write_envelope(wallet, "phrase", &sealed_phrase);
  write_envelope(wallet, "seed", &sealed_seed);
  read_envelope(wallet, "phrase", &sealed_phrase);
  read_envelope(wallet, "seed", &sealed_seed);
  open_envelope(&sealed_phrase, opened);
  open_envelope(&sealed_seed, opened);
  confirm(wallet, opened);
  RAND_bytes(key, sizeof key);
  sqlite3_bind_blob(add_outcome, 1, key, sizeof key, SQLITE_TRANSIENT);
  sqlite3_bind_blob(add_outcome, 2, body, sizeof body, SQLITE_TRANSIENT);
  step(add_outcome);
  sqlite3_reset(add_outcome);
}

static void create_another(void) {
  static int number;
  char wallet[40], phrase[128];
  snprintf(wallet, sizeof wallet, "%08x-2222-4333-8444-555555555555", ++number + 0x20000000);
  snprintf(phrase, sizeof phrase, "%.80s %08x", PHRASE, number);
  do_create(wallet, phrase);
}

// The two hops

static void back(void *socket) {
  zmq_pollitem_t wait = {.socket = socket, .events = ZMQ_POLLIN};
  request one;
  uint8_t frame[64];
  for (;;) {
    zmq_poll(&wait, 1, -1);
    for (int i = 0; i < turn_max && take_request(socket, &one); i++) {
      begin_reply(socket, &one, 0);
      zmq_send(socket, "{\"lease_ms\":250,\"reusable\":true}", 32, ZMQ_SNDMORE);
      hkdf(access_key, "telegram", "telegram.wallet.dek.v1", frame);
      zmq_send(socket, frame, sizeof frame, ZMQ_SNDMORE);
      hkdf(access_key, "telegram", "coffer.wallet.identity.v1", frame);
      zmq_send(socket, frame, sizeof frame, 0);
    }
  }
}

// Asks for keys; the sizes are those of `authority.derive`.
static void ask_back(void *socket, unsigned long long place) {
  char header[frame_max], filling[600];
  int size = sprintf(header, "{\"v\":1,\"id\":%llu,\"method\":\"authority.derive\"", place);
  size += sprintf(header + size, ",\"owner\":\"local\",\"timeout_ms\":250}");
  memset(filling, 'x', sizeof filling);
  zmq_send(socket, header, (size_t)size, ZMQ_SNDMORE);
  zmq_send(socket, filling, 560, ZMQ_SNDMORE);
  zmq_send(socket, filling, 190, 0);
}

static bool take_keys(void *socket, unsigned long long *place) {
  char header[frame_max], body[frame_max];
  uint8_t keys[2][64];
  int size = zmq_recv(socket, header, sizeof header - 1, ZMQ_DONTWAIT);
  if (size < 0) return false;
  header[size] = 0;
  zmq_recv(socket, body, sizeof body, 0);
  zmq_recv(socket, keys[0], 64, 0);
  zmq_recv(socket, keys[1], 64, 0);
  memcpy(key_of_envelopes, keys[0], 32);
  memcpy(key_of_identities, keys[1], 32);
  *place = strtoull(strstr(header, "\"id\":") + 5, 0, 10);
  return true;
}

static void front(void *socket, void *other, const char *work) {
  static request waiting[1024], done[turn_max];
  unsigned long long place = 0;
  zmq_pollitem_t waits[] = {{.socket = socket, .events = ZMQ_POLLIN},
                            {.socket = other, .events = ZMQ_POLLIN}};
  bool writes = !strcmp(work, "create"), signs = !strcmp(work, "sign");
  for (unsigned long long next = 0;;) {
    zmq_poll(waits, 2, -1);
    for (int i = 0; i < turn_max && take_request(socket, &waiting[next % 1024]); i++, next++) {
      ask_back(other, next);
    }
    int count = 0;
    while (count < turn_max && take_keys(other, &place)) {
      if (writes && !count) run("BEGIN");
      done[count++] = waiting[place % 1024];
      if (writes) create_another();
      else if (signs) do_sign(&done[count - 1]);
      else do_check(WALLET);
    }
    if (writes && count) run("COMMIT");
    for (int i = 0; i < count; i++) reply(socket, &done[i], 0, 300);
  }
}

static void make_first_wallet(void) {
  hkdf(access_key, "telegram", "telegram.wallet.dek.v1", key_of_envelopes);
  hkdf(access_key, "telegram", "coffer.wallet.identity.v1", key_of_identities);
  run("BEGIN");
  do_create(WALLET, PHRASE);
  run("COMMIT");
}

int main(int count, char **words) {
  must(count >= 2, "usage: see the head of reference.c; it");
  zmq_context = zmq_ctx_new();
  if (!strcmp(words[1], "keys")) {
    char public[41], secret[41];
    must(!zmq_curve_keypair(public, secret), "a key pair");
    printf("%s\n%s\n", public, secret);
    return 0;
  }
  must(count >= 4, "usage: see the head of reference.c; it");
  void *socket = server(words[2], words[3]);
  if (!strcmp(words[1], "echo")) {
    must(count == 6, "usage: see the head of reference.c; it");
    echo(socket, atoi(words[4]), atoi(words[5]));
  } else if (!strcmp(words[1], "back")) {
    back(socket);
  } else {
    must(count == 8 && sodium_init() >= 0, "usage: see the head of reference.c; it");
    curve = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
    open_store(words[7]);
    make_first_wallet();
    front(socket, client(words[4], words[5]), words[6]);
  }
  return 0;
}
