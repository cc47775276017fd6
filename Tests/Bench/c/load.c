// Asks a server the same thing over and over from a number of connections, and says how many
// answers came in a second and how long each took. The same program drives both sides of a
// comparison.
//
//   load bus ENDPOINT SERVER-KEY PUBLIC-KEY SECRET-KEY HEADER BODY [option]...
//   load http PORT REQUEST-FILE [option]...
//
// HEADER is a Coffer header in which @ID@ becomes the request's number, @OWNER@ one of the owners
// o000000, o000001 and so on, @KEY@ a fresh idempotency key and @SETTLED@ the key of the same
// connection's last change. Keys are in Z85.
//
//   -c N     connections (1)           -w N     requests under way on each (1)
//   -d MS    how long (1000), and as long again where no answer came, up to 30 times
//   -u MS    how long before that nothing is counted (200)
//   -t FILE  tokens, a line of hex each; the requests take them in turn
//   -a HEX   the attachment's frame    -o N     owners, of whom one is drawn each time (1)
//
// Prints one JSON object; times are in microseconds. A refusal that says when to ask again is counted
// and asked again, as a client does. Ends with 1 where an answer is any other error.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { window_max = 64, text_max = 70000, sample_max = 8000000 };

typedef struct {
  uint8_t *data;
  size_t size;
} bytes;

typedef struct {
  void *socket;                     // of the bus
  int fd;                           // readable when there may be something to read
  uint64_t next_id, under_way;
  uint64_t sent_at[window_max];     // by id modulo window_max
  char settled[40];                 // with quotes, or empty
  char text[text_max];              // of a reply over HTTP
  size_t text_size;
} connection;

static struct {
  bool is_bus;
  const char *header;
  bytes body, attachment, *tokens;
  size_t token_count, token_next;
  int connections, window;
  unsigned owners;
  uint64_t duration_ns, warm_up_ns;
} plan = {.connections = 1,
          .window = 1,
          .owners = 1,
          .duration_ns = 1000000000,
          .warm_up_ns = 200000000};

static uint32_t *samples;  // tenths of a microsecond
static size_t sample_count;
static uint64_t counted_from, counted_until, failures, refusals;
static char first_failure[400];

static void die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, errno ? zmq_strerror(errno) : "wrong");
  exit(1);
}

static void must(bool holds, const char *what) {
  if (!holds) die(what);
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bytes from_hex(const char *text) {
  bytes result = {malloc(strlen(text) / 2 + 1), strlen(text) / 2};
  for (size_t i = 0; i < result.size; i++) {
    unsigned value;
    must(sscanf(text + 2 * i, "%2x", &value) == 1, "hex");
    result.data[i] = (uint8_t)value;
  }
  return result;
}

static void read_tokens(const char *path) {
  static char line[20000];
  FILE *file = fopen(path, "r");
  must(file, path);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    plan.tokens = realloc(plan.tokens, (plan.token_count + 1) * sizeof(bytes));
    plan.tokens[plan.token_count++] = from_hex(line);
  }
  fclose(file);
}

static bytes read_whole(const char *path) {
  FILE *file = fopen(path, "r");
  must(file, path);
  bytes result = {malloc(text_max), 0};
  result.size = fread(result.data, 1, text_max, file);
  fclose(file);
  return result;
}

// Random enough to be different each time, which is all that is asked of it here.
static uint64_t draw(void) {
  static uint64_t state;
  if (!state) state = now_ns() ^ (uint64_t)getpid() << 40;
  uint64_t value = state += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

static size_t fill_header(connection *link, char *out) {
  char key[33] = "";
  size_t size = 0;
  for (const char *at = plan.header; *at;) {
    if (!strncmp(at, "@ID@", 4)) {
      size += (size_t)sprintf(out + size, "%llu", (unsigned long long)link->next_id);
      at += 4;
    } else if (!strncmp(at, "@SETTLED@", 9)) {
      size += (size_t)sprintf(out + size, "%s", link->settled);
      at += 9;
    } else if (!strncmp(at, "@OWNER@", 7)) {
      size += (size_t)sprintf(out + size, "o%06u", (unsigned)(draw() % plan.owners));
      at += 7;
    } else if (!strncmp(at, "@KEY@", 5)) {
      sprintf(key, "%016llx%016llx", (unsigned long long)draw(), (unsigned long long)draw());
      size += (size_t)sprintf(out + size, "%s", key);
      at += 5;
    } else {
      out[size++] = *at++;
    }
  }
  if (key[0]) sprintf(link->settled, "\"%s\"", key);
  return size;
}

static void send_bus(connection *link) {
  char header[1024];
  size_t size = fill_header(link, header);
  bytes token = {0, 0};
  if (plan.token_count) token = plan.tokens[plan.token_next++ % plan.token_count];
  int last = plan.attachment.size ? ZMQ_SNDMORE : 0;
  must(zmq_send(link->socket, header, size, ZMQ_SNDMORE) >= 0, "send");
  must(zmq_send(link->socket, token.data, token.size, ZMQ_SNDMORE) >= 0, "send");
  must(zmq_send(link->socket, plan.body.data, plan.body.size, last) >= 0, "send");
  if (last) {
    must(zmq_send(link->socket, plan.attachment.data, plan.attachment.size, 0) >= 0, "send");
  }
}

static void send_http(connection *link) {
  for (size_t done = 0; done < plan.body.size;) {
    ssize_t count = write(link->fd, plan.body.data + done, plan.body.size - done);
    must(count > 0 || errno == EAGAIN, "write");
    if (count > 0) done += (size_t)count;
  }
}

static void send_one(connection *link) {
  link->next_id++;
  link->sent_at[link->next_id % window_max] = now_ns();
  link->under_way++;
  plan.is_bus ? send_bus(link) : send_http(link);
}

static void note_failure(const char *text, size_t size) {
  if (!failures++) snprintf(first_failure, sizeof first_failure, "%.*s", (int)size, text);
}

static void note_answer(connection *link, uint64_t id, bool counts) {
  uint64_t now = now_ns();
  link->under_way--;
  if (!counts || now < counted_from || now >= counted_until || sample_count == sample_max) return;
  samples[sample_count++] = (uint32_t)((now - link->sent_at[id % window_max]) / 100);
}

// Takes one reply of the bus; false where none waits.
static bool take_bus(connection *link) {
  char header[512], body[4096];
  int size = zmq_recv(link->socket, header, sizeof header - 1, ZMQ_DONTWAIT);
  if (size < 0) {
    must(errno == EAGAIN || errno == EINTR, "receive");
    return false;
  }
  header[size < (int)sizeof header ? size : (int)sizeof header - 1] = 0;
  int body_size = 0, more;
  size_t more_size = sizeof more;
  for (int part = 1;; part++) {
    zmq_getsockopt(link->socket, ZMQ_RCVMORE, &more, &more_size);
    if (!more) break;
    int count = zmq_recv(link->socket, body, sizeof body, 0);
    if (part == 1) body_size = count;
  }
  const char *id = strstr(header, "\"id\":");
  must(id, "a reply without an id");
  bool is_error = strstr(header, "\"error\"");
  if (is_error) {
    body[body_size < (int)sizeof body ? body_size : (int)sizeof body - 1] = 0;
    if (strstr(body, "\"retry_after_ms\"")) refusals++;
    else note_failure(body, strlen(body));
  }
  note_answer(link, strtoull(id + 5, 0, 10), !is_error);
  return true;
}

// Takes a reply over HTTP, which says its length or has no content; false where it is not whole.
static bool take_http(connection *link) {
  ssize_t count = read(link->fd, link->text + link->text_size, text_max - 1 - link->text_size);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  must(count > 0, "the server ended the connection");
  link->text_size += (size_t)count;
  link->text[link->text_size] = 0;
  char *end = strstr(link->text, "\r\n\r\n");
  if (!end) return false;
  int status = atoi(link->text + 9);
  size_t content = 0;
  char *length = strcasestr(link->text, "\r\nContent-Length:");
  if (length && length < end) content = strtoull(length + 17, 0, 10);
  must(status == 204 || length, "a reply without its length");
  if (link->text_size < (size_t)(end + 4 - link->text) + content) return false;
  if (status != 200 && status != 204) note_failure(link->text, link->text_size);
  link->text_size = 0;
  note_answer(link, link->next_id, true);
  return true;
}

// Sends as much as may be under way and takes what came, until nothing is left to take: what
// tells that something came does so once.
static void serve(connection *link) {
  bool took;
  do {
    while (now_ns() < counted_until && (int)link->under_way < plan.window) send_one(link);
    took = plan.is_bus ? take_bus(link) : take_http(link);
  } while (took);
}

static void connect_bus(connection *link, void *context, char **words) {
  int linger = 0;
  size_t size = sizeof link->fd;
  link->socket = zmq_socket(context, ZMQ_DEALER);
  must(link->socket, "socket");
  zmq_setsockopt(link->socket, ZMQ_LINGER, &linger, sizeof linger);
  must(!zmq_setsockopt(link->socket, ZMQ_CURVE_SERVERKEY, words[1], 41), "server's key");
  must(!zmq_setsockopt(link->socket, ZMQ_CURVE_PUBLICKEY, words[2], 41), "public key");
  must(!zmq_setsockopt(link->socket, ZMQ_CURVE_SECRETKEY, words[3], 41), "secret key");
  must(!zmq_connect(link->socket, words[0]), words[0]);
  zmq_getsockopt(link->socket, ZMQ_FD, &link->fd, &size);
}

static void connect_http(connection *link, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  link->fd = socket(AF_INET, SOCK_STREAM, 0);
  must(!connect(link->fd, (struct sockaddr *)&address, sizeof address), "connect");
  setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(link->fd, F_SETFL, O_NONBLOCK);
}

static int compare(const void *a, const void *b) {
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return first < second ? -1 : first > second;
}

static double quantile(double share) {
  if (!sample_count) return 0;
  size_t index = (size_t)(share * (double)sample_count);
  return samples[index < sample_count ? index : sample_count - 1] / 10.0;
}

static void read_options(int count, char **words) {
  int option;
  while ((option = getopt(count, words, "c:w:d:u:t:a:o:")) != -1) {
    switch (option) {
      case 'c': plan.connections = atoi(optarg); break;
      case 'w': plan.window = atoi(optarg); break;
      case 'd': plan.duration_ns = strtoull(optarg, 0, 10) * 1000000; break;
      case 'u': plan.warm_up_ns = strtoull(optarg, 0, 10) * 1000000; break;
      case 't': read_tokens(optarg); break;
      case 'a': plan.attachment = from_hex(optarg); break;
      case 'o': plan.owners = (unsigned)atoi(optarg); break;
      default: exit(2);
    }
  }
  must(plan.connections > 0 && plan.window > 0 && plan.window <= window_max && plan.owners > 0,
       "usage");
}

int main(int count, char **words) {
  must(count >= 4, "usage: see the head of load.c");
  plan.is_bus = !strcmp(words[1], "bus");
  int given = plan.is_bus ? 8 : 4;
  must(count >= given, "usage: see the head of load.c");
  char **first = words + 2;
  read_options(count - given + 1, words + given - 1);

  void *context = zmq_ctx_new();
  connection *links = calloc((size_t)plan.connections, sizeof(connection));
  struct pollfd *waits = calloc((size_t)plan.connections, sizeof(struct pollfd));
  samples = malloc(sample_max * sizeof *samples);
  if (plan.is_bus) {
    plan.header = first[4];
    plan.body = (bytes){(uint8_t *)first[5], strlen(first[5])};
  } else {
    plan.body = read_whole(first[1]);
  }
  for (int i = 0; i < plan.connections; i++) {
    plan.is_bus ? connect_bus(&links[i], context, first) : connect_http(&links[i], atoi(first[0]));
    waits[i] = (struct pollfd){.fd = links[i].fd, .events = POLLIN};
  }
  counted_from = now_ns() + plan.warm_up_ns;
  counted_until = counted_from + plan.duration_ns;
  uint64_t longest = counted_from + 30 * plan.duration_ns;
  for (int i = 0; i < plan.connections; i++) serve(&links[i]);
  // Answers that are under way at the end are waited for, so that the server is idle afterwards.
  for (uint64_t waiting = 1, end = counted_until + 5000000000; waiting && now_ns() < end;) {
    bool is_silent = poll(waits, (nfds_t)plan.connections, 20) == 0;
    uint64_t now = now_ns();
    if (!sample_count && now >= counted_until && counted_until < longest) {
      counted_until += plan.duration_ns;
      end = counted_until + 5000000000;
    }
    waiting = now < counted_until;
    for (int i = 0; i < plan.connections; i++) {
      if (is_silent || waits[i].revents) serve(&links[i]);
      waiting += links[i].under_way;
    }
  }
  qsort(samples, sample_count, sizeof *samples, compare);
  double rate = (double)sample_count * 1e9 / (double)(counted_until - counted_from);
  printf("{\"count\":%zu,\"rate\":%.1f,\"p50\":%.1f,\"p99\":%.1f,\"refusals\":%llu}\n",
         sample_count, rate, quantile(0.5), quantile(0.99), (unsigned long long)refusals);
  if (failures) fprintf(stderr, "load: %s\n", first_failure);
  if (!sample_count) fprintf(stderr, "load: no answer came\n");
  for (int i = 0; plan.is_bus && i < plan.connections; i++) zmq_close(links[i].socket);
  zmq_ctx_term(context);
  return failures || !sample_count;
}
