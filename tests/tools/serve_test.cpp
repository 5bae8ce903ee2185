// The server as clients meet it, friendly and hostile ones.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attn/tasks/task.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"
#include "tools/http_client.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/openapi.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/server.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/work_queue.hpp"

namespace attn::tools {
namespace {

using namespace std::chrono_literals;

serve::Options quick() {
  serve::Options options;
  options.port = 0;
  options.limits.request = 1500ms;
  options.limits.pause = 400ms;
  options.limits.idle = 700ms;
  return options;
}

serve::Models one_model() {
  serve::Models models;
  models.add("pronounce", "shipped", ATTN_SHIPPED_MODELS "/pronounce");
  return models;
}

/// A server on a thread of its own.
class Running {
 public:
  explicit Running(serve::Options options = quick(), serve::Models models = {})
      : service_(std::move(options), std::move(models)),
        server_(service_),
        port(server_.port()),
        thread_([this] { server_.run(); }) {}
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  /// What comes back for these bytes, until the server closes.
  std::string say(const std::string& bytes) const {
    Client client(port);
    client.send(bytes);
    return client.rest();
  }

 private:
  serve::Service service_;
  serve::Server server_;

 public:
  const std::uint16_t port;

 private:
  std::thread thread_;
};

std::string get(const std::string& path, const std::string& headers = "Host: localhost\r\n",
                const std::string& method = "GET") {
  return method + " " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n";
}

std::string post(const std::string& path, const std::string& body,
                 const std::string& headers = "Content-Type: application/json\r\n") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string error_of(const std::string& response) {
  const auto json = nlohmann::json::parse(body_of(response), nullptr, false);
  return json.is_object() && json.contains("error") ? json["error"].get<std::string>() : "";
}

TEST(Serve, EveryRouteIsDescribedAndEveryDescribedRouteAnswers) {
  const Running server;
  const auto description = nlohmann::json::parse(serve::openapi_text());
  std::set<std::string> described;
  for (const auto& [path, methods] : description.at("paths").items())
    for (const auto& [method, about] : methods.items()) {
      described.insert((method == "get" ? "GET " : "POST ") + path);
      const std::string answer =
          server.say(method == "get" ? get(path) : post(path, R"({"name": "sink"})"));
      const int status = status_of(answer);
      EXPECT_TRUE(method == "get" ? status == 200 : status == 200 || !error_of(answer).empty())
          << method << " " << path << ": " << answer;
      EXPECT_NE(status, 405) << path;
      EXPECT_TRUE(about.at("responses").contains(std::to_string(status)))
          << method << " " << path << " answers " << status << ", which is not described";
    }
  std::set<std::string> known;
  for (const serve::Route& route : serve::routes())
    known.insert(std::string(route.method) + " " + std::string(route.path));
  // Every task has a path; one whose answer has a form of its own is described by name.
  known.insert("POST /api/{task}");
  for (const tasks::Task* task : tasks::all_tasks())
    if (described.contains("POST /api/" + task->name()))
      known.insert("POST /api/" + task->name());
  EXPECT_EQ(known, described);
  EXPECT_EQ(body_of(server.say(get("/health"))), "{\"status\":\"ok\"}\n");
}

TEST(Serve, WatchesTheTrainingsItWasStartedWithAndNothingElse) {
  const tasks::Scratch scratch;
  const auto folder = [&](const char* name) { return scratch.path() / name; };
  std::filesystem::create_directories(folder("mine"));
  std::filesystem::create_directories(folder("broken"));
  scratch.write("secret.jsonl", "{\"loss\":1.0,\"step\":10}\n");
  scratch.write("broken/log.jsonl", "no log\nat all\n");
  scratch.write(
      "mine/training.json",
      R"({"task": "pairs", "data": "/home/me/dates.tsv", "model": {"kind": "luong"}})");
  scratch.write("mine/log.jsonl",
                "{\"event\":\"begin\",\"step\":0,\"budget\":{\"steps\":40}}\n"
                "{\"loss\":2.5,\"step\":10,\"tokens_per_second\":900,\"left\":30}\n"
                "{\"development\":{\"CER\":12.5,\"exact\":50.0},\"metric\":\"CER\",\"step\":10,"
                "\"samples\":[{\"source\":\"s\",\"answer\":\"a\",\"target\":\"t\"}]}\n");
  serve::Options options = quick();
  options.watch = {folder("mine"), folder("later"), folder("broken")};
  const Running server(options);
  const auto runs = [&] {
    const std::string answer = server.say(get("/api/run"));
    EXPECT_EQ(status_of(answer), 200) << answer;
    EXPECT_EQ(answer.find(scratch.path().string()), std::string::npos) << "no path is told";
    EXPECT_EQ(answer.find("/home/me"), std::string::npos) << "nor one of the data";
    return nlohmann::json::parse(body_of(answer)).at("runs");
  };
  const auto before = runs();
  ASSERT_EQ(before.size(), 3u);
  EXPECT_EQ(before[0]["name"], "mine");
  EXPECT_EQ(before[0]["state"], "running");
  EXPECT_EQ(before[0]["budget"]["steps"], 40);
  EXPECT_EQ(before[0]["task"], "pairs");
  EXPECT_EQ(before[0]["data"], "dates.tsv");
  EXPECT_EQ(before[0]["metric"]["lower_is_better"], true);
  EXPECT_EQ(before[0]["best"]["value"], 12.5);
  EXPECT_EQ(before[0]["samples"][0]["answer"], "a");
  EXPECT_EQ(before[1]["state"], "waiting");
  EXPECT_EQ(before[2]["state"], "unreadable");

  // It moves on, and another begins.
  std::filesystem::create_directories(folder("later"));
  scratch.write("later/log.jsonl", "{\"event\":\"begin\",\"step\":0,\"budget\":{}}\n");
  std::ofstream(folder("mine") / "log.jsonl", std::ios::app)
      << "{\"event\":\"end\",\"step\":40,\"why\":\"budget\"}\n";
  const auto after = runs();
  EXPECT_EQ(after[0]["state"], "ended");
  EXPECT_EQ(after[0]["step"], 40);
  EXPECT_EQ(after[1]["state"], "running");

  for (const char* path : {"/api/run/../secret.jsonl", "/api/run/mine", "/log.jsonl",
                           "/mine/log.jsonl", "/watch/mine"})
    EXPECT_EQ(status_of(server.say(get(path))), 404) << path;
  EXPECT_EQ(status_of(server.say(post("/api/run", "{}"))), 405);
}

TEST(Serve, AnswersWithTokensWeightsAndHeads) {
  const Running server(quick(), one_model());
  const std::string answer = server.say(
      post("/api/answer", R"({"task":"pronounce","text":"Attention","best":2,"heads":true})"));
  ASSERT_EQ(status_of(answer), 200) << answer;
  const auto json = nlohmann::json::parse(body_of(answer));
  ASSERT_EQ(json.at("answers").size(), 2u);
  const auto& best = json["answers"][0];
  EXPECT_EQ(best.at("text"), "AH T EH N SH AH N");
  EXPECT_EQ(best.at("source_tokens").back(), "</s>");
  EXPECT_EQ(best.at("target_tokens").back(), "</s>");
  ASSERT_EQ(best.at("weights").size(), best["target_tokens"].size());
  for (const auto& row : best["weights"]) EXPECT_EQ(row.size(), best["source_tokens"].size());
  std::set<std::string> parts;
  for (const auto& head : best.at("heads")) {
    parts.insert(head.at("part").get<std::string>());
    EXPECT_EQ(head.at("weights").size(), head.at("rows").size());
  }
  EXPECT_EQ(parts, (std::set<std::string>{"cross", "decoder", "encoder"}));
  const auto info = nlohmann::json::parse(body_of(server.say(get("/api/info"))));
  EXPECT_EQ(info.at("page"), serve::has_page());
  for (const auto& task : info.at("tasks"))
    EXPECT_EQ(task.at("models").size(), task.at("name") == "pronounce" ? 1u : 0u);
}

TEST(Serve, StepsThroughARowOfAHead) {
  const Running server(quick(), one_model());
  const std::string said = server.say(
      post("/api/answer", R"({"task":"pronounce","text":"Attention","heads":true})"));
  ASSERT_EQ(status_of(said), 200) << said;
  const auto best = nlohmann::json::parse(body_of(said)).at("answers").at(0);
  ASSERT_FALSE(best.at("heads").empty());
  for (const auto& head : best["heads"]) {
    const std::size_t row = head.at("rows").size() / 2;
    const nlohmann::json question{{"task", "pronounce"},
                                  {"source_tokens", best.at("source_tokens")},
                                  {"target_tokens", best.at("target_tokens")},
                                  {"part", head.at("part")},
                                  {"layer", head.at("layer")},
                                  {"head", head.at("head")},
                                  {"row", row}};
    const std::string answer = server.say(post("/api/step", question.dump()));
    ASSERT_EQ(status_of(answer), 200) << answer;
    const auto step = nlohmann::json::parse(body_of(answer));
    EXPECT_EQ(step.at("rows"), head.at("rows"));
    EXPECT_EQ(step.at("columns"), head.at("columns"));
    EXPECT_EQ(step.at("heads").size(), best["heads"].size());
    const auto scores = step.at("scores").get<std::vector<double>>();
    const auto weights = step.at("weights").get<std::vector<double>>();
    const auto query = step.at("query").get<std::vector<double>>();
    const auto output = step.at("output").get<std::vector<double>>();
    ASSERT_EQ(weights.size(), head["columns"].size());
    std::vector<double> pooled(output.size(), 0.0);
    double sum = 0.0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      EXPECT_NEAR(weights[j], head.at("weights").at(row).at(j).get<double>(), test::kFloat);
      double score = 0.0;
      for (std::size_t c = 0; c < query.size(); ++c)
        score += query[c] * step.at("keys").at(j).at(c).get<double>();
      EXPECT_NEAR(scores[j], score * step.at("scale").get<double>(), test::kFloatModel);
      for (std::size_t c = 0; c < pooled.size(); ++c)
        pooled[c] += weights[j] * step.at("values").at(j).at(c).get<double>();
      if (!step.at("masked").at(j).get<bool>())
        sum += std::exp(scores[j] - step.at("largest").get<double>());
    }
    EXPECT_NEAR(sum, step.at("sum").get<double>(), test::kFloatModel);
    for (std::size_t j = 0; j < weights.size(); ++j)
      EXPECT_NEAR(weights[j], step.at("exponentials").at(j).get<double>() / sum, test::kFloat);
    for (std::size_t c = 0; c < pooled.size(); ++c)
      EXPECT_NEAR(output[c], pooled[c], test::kFloatModel);
  }
}

TEST(Serve, WrongStepsNameTheField) {
  const Running server(quick(), one_model());
  const std::string tokens =
      R"("task":"pronounce","source_tokens":["c","</s>"],"target_tokens":["K","</s>"])";
  EXPECT_EQ(status_of(server.say(post("/api/step", "{" + tokens + "}"))), 200);
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"({"task":"pronounce","target_tokens":["</s>"]})", "\"source_tokens\" is missing"},
      {R"({"task":"pronounce","source_tokens":[7],"target_tokens":[]})", "\"source_tokens\""},
      {R"({"task":"pronounce","source_tokens":["zebra","</s>"],"target_tokens":["</s>"]})",
       "zebra"},
      {R"({"task":"pronounce","source_tokens":["c"],"target_tokens":["</s>"]})", "end with"},
      {"{" + tokens + R"(,"part":"middle"})", "\"part\""},
      {"{" + tokens + R"(,"layer":99})", "layers 1 to"},
      {"{" + tokens + R"(,"head":99})", "heads 1 to"},
      {"{" + tokens + R"(,"row":2})", "0 to 1"},
      {"{" + tokens + R"(,"forbid":[9]})", "position 9"}};
  for (const auto& [body, part] : wrong) {
    const std::string answer = server.say(post("/api/step", body));
    EXPECT_EQ(status_of(answer), 400) << body;
    EXPECT_NE(error_of(answer).find(part), std::string::npos) << body << ": " << answer;
  }
}

TEST(Serve, SteeringChangesWhereItLooks) {
  const Running server(quick(), one_model());
  const auto weights = [&](const std::string& more) {
    const std::string answer = server.say(
        post("/api/answer", R"({"task":"pronounce","text":"cat","beam":1)" + more + "}"));
    EXPECT_EQ(status_of(answer), 200) << answer;
    return nlohmann::json::parse(body_of(answer)).at("answers").at(0).at("weights");
  };
  const auto forced = weights(R"(,"force":[{"step":0,"position":2}])");
  EXPECT_NEAR(forced.at(0).at(2).get<double>(), 1.0, test::kFloatSum);
  for (const auto& row : weights(R"(,"forbid":[1])")) EXPECT_EQ(row.at(1), 0.0);
  EXPECT_LT(weights(R"(,"temperature":50)").at(0).at(0).get<double>(),
            weights("").at(0).at(0).get<double>());
}

TEST(Serve, WrongRequestsNameTheField) {
  const Running server(quick(), one_model());
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "not JSON"},
      {"{\"task\": ", "not JSON"},
      {"[]", "JSON object"},
      {R"({"text":"x"})", "\"task\" is missing"},
      {R"({"task":7,"text":"x"})", "\"task\" must be a text"},
      {"{\"task\":\"pronounce\",\"text\":\"\xff\"}", "UTF-8"},
      {R"({"task":"pronounce","text":"  "})", "\"text\" is empty"},
      {R"({"task":"pronounce","text":"x","beam":0})", "\"beam\""},
      {R"({"task":"pronounce","text":"x","beam":18446744073709551615})", "\"beam\""},
      {R"({"task":"pronounce","text":"x","beam":1,"best":2})", "\"best\""},
      {R"({"task":"pronounce","text":"x","temperature":0})", "\"temperature\""},
      {R"({"task":"pronounce","text":"x","temperature":1e-300})", "\"temperature\""},
      {R"({"task":"pronounce","text":"x","forbid":[9]})", "position 9"},
      {R"({"task":"pronounce","text":"x","forbid":[-1]})", "\"forbid\""},
      {R"({"task":"pronounce","text":"x","force":[{"step":0}]})", "\"force\""},
      {R"({"task":"pronounce","text":"x","heads":"yes"})", "\"heads\""},
      {R"({"task":"pronounce","text":"x","bean":2})", "\"bean\""},
      {R"({"task":"pronounce","text":")" + std::string(20000, 'x') + "\"}", "\"text\""},
      {std::string(100000, '['), "deep"}};
  for (const auto& [body, part] : wrong) {
    const std::string answer = server.say(post("/api/answer", body));
    EXPECT_EQ(status_of(answer), 400) << body.substr(0, 80);
    EXPECT_NE(error_of(answer).find(part), std::string::npos)
        << body.substr(0, 80) << ": " << error_of(answer);
  }
  EXPECT_EQ(status_of(server.say(post("/api/answer", R"({"task":"zzz","text":"x"})"))), 404);
  EXPECT_EQ(status_of(server.say(
                post("/api/answer", R"({"task":"pronounce","model":"zzz","text":"x"})"))),
            404);
  EXPECT_EQ(status_of(server.say(post("/api/caption", R"({"pixels":""})"))), 404);
}

TEST(Serve, ScriptInATextComesBackAsJsonText) {
  const Running server(quick(), one_model());
  const std::string answer = server.say(
      post("/api/answer", R"({"task":"pronounce","text":"<img src=x onerror=alert(1)>"})"));
  ASSERT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(body_of(answer)).contains("answers"));
  const std::string missing = server.say(get("/<script>alert(1)</script>"));
  EXPECT_EQ(status_of(missing), 404);
  EXPECT_NE(missing.find("Content-Type: application/json\r\n"), std::string::npos);
}

TEST(Serve, NoPathLeadsOutOfTheAssets) {
  const Running server;
  for (const char* path :
       {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../../etc/passwd",
        "/assets/%2e%2e%2f%2e%2e%2fetc/passwd", "//etc/passwd", "/assets/", "/.git/config",
        "/offline.html", "/index.html%00", "/..\\..\\etc\\passwd"})
    EXPECT_EQ(status_of(server.say(get(path))), 404) << path;
}

TEST(Serve, ThePageIsCachedByItsContent) {
  const Running server;
  const std::string page = server.say(get("/"));
  ASSERT_EQ(status_of(page), 200);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'self'"), std::string::npos);
  const auto tag = page.find("ETag: ");
  ASSERT_NE(tag, std::string::npos);
  const std::string value = page.substr(tag + 6, page.find("\r\n", tag) - tag - 6);
  const std::string again =
      server.say(get("/", "Host: localhost\r\nIf-None-Match: " + value + "\r\n"));
  EXPECT_EQ(status_of(again), 304);
  EXPECT_EQ(body_of(again), "");
}

TEST(Serve, HeadAndOptionsAndWrongMethods) {
  const Running server;
  const std::string whole = server.say(get("/api/live"));
  const std::string head = server.say(get("/api/live", "Host: localhost\r\n", "HEAD"));
  EXPECT_EQ(head.substr(0, head.find("\r\n\r\n")), whole.substr(0, whole.find("\r\n\r\n")));
  EXPECT_EQ(body_of(head), "");
  const std::string options = server.say(get("/api/live", "Host: localhost\r\n", "OPTIONS"));
  EXPECT_EQ(status_of(options), 204);
  EXPECT_NE(options.find("Allow: GET, HEAD, POST, OPTIONS\r\n"), std::string::npos);
  for (const char* method : {"DELETE", "PUT", "TRACE", "NONSENSE"}) {
    const std::string answer = server.say(get("/health", "Host: localhost\r\n", method));
    EXPECT_EQ(status_of(answer), 405) << method;
    EXPECT_NE(answer.find("Allow: GET, HEAD, OPTIONS\r\n"), std::string::npos) << method;
  }
}

TEST(Serve, RefusesOtherNamesAndForeignPages) {
  const Running server;
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                           "localhost:80:evil", "10.0.0.1", "[::1"})
    EXPECT_EQ(status_of(server.say(get("/health", std::string("Host: ") + host + "\r\n"))), 403)
        << host;
  for (const char* host : {"localhost", "LOCALHOST:1234", "127.0.0.1:80", "[::1]:8080"})
    EXPECT_EQ(status_of(server.say(get("/health", std::string("Host: ") + host + "\r\n"))), 200)
        << host;
  EXPECT_EQ(status_of(server.say(get("/health", ""))), 400) << "no Host header";
  EXPECT_EQ(status_of(server.say(get("/health", "Host: localhost\r\nHost: evil\r\n"))), 400);

  const std::string body = R"({"name":"sink"})";
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(status_of(server.say(post("/api/live", body, "Content-Type: text/plain\r\n"))),
            400);
  EXPECT_EQ(status_of(server.say(post("/api/live", body, json + "Origin: http://evil\r\n"))),
            403);
  EXPECT_EQ(status_of(server.say(post("/api/live", body, json + "Origin: null\r\n"))), 403);
  const std::string own =
      server.say(post("/api/live", body, json + "Origin: http://localhost\r\n"));
  EXPECT_EQ(status_of(own), 200);
  EXPECT_EQ(own.find("Access-Control"), std::string::npos);
}

TEST(Serve, AnAllowedOriginMayAsk) {
  serve::Options options = quick();
  options.origins = {"http://page.example"};
  const Running server(options);
  const std::string from = "Host: localhost\r\nOrigin: http://page.example\r\n";
  const std::string before =
      server.say(get("/api/live", from + "Access-Control-Request-Method: POST\r\n", "OPTIONS"));
  EXPECT_EQ(status_of(before), 204);
  EXPECT_NE(before.find("Access-Control-Allow-Origin: http://page.example\r\n"),
            std::string::npos);
  EXPECT_NE(before.find("Access-Control-Allow-Headers: content-type\r\n"), std::string::npos);
  const std::string other =
      server.say(get("/api/live", "Host: localhost\r\nOrigin: http://other.example\r\n"));
  EXPECT_EQ(other.find("Access-Control-Allow-Origin"), std::string::npos);
}

TEST(Serve, LimitsSizes) {
  const Running server;
  const std::string head =
      "POST /api/live HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\n";
  EXPECT_EQ(status_of(server.say(post("/api/live", std::string(300000, 'x')))), 413);
  EXPECT_EQ(status_of(server.say(head + "Content-Length: 99999999999\r\n\r\n")), 413);
  std::string chunks;
  for (int i = 0; i < 40; ++i) chunks += "2000\r\n" + std::string(0x2000, 'x') + "\r\n";
  EXPECT_EQ(status_of(server.say(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks)), 413);
  EXPECT_EQ(status_of(server.say(get("/" + std::string(20000, 'a')))), 431);
  EXPECT_EQ(status_of(server.say(head + "X: " + std::string(20000, 'a') + "\r\n\r\n")), 431);
  // Two lengths could be read two ways.
  EXPECT_EQ(status_of(server.say(
                head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            400);
  for (const char* garbage : {"\r\n\r\n \r\n", "\x16\x03\x01\x02 hello there", "GET\r\n\r\n"})
    EXPECT_EQ(status_of(server.say(garbage)), 400) << garbage;
  EXPECT_EQ(status_of(server.say(get("/health"))), 200);
}

TEST(Serve, ASoundMayBeLongerThanOtherRequests) {
  const Running server;
  const std::string sound = R"({"sound": ")" + std::string(2'000'000, 'A') + R"("})";
  const std::string heard = server.say(post("/api/transcribe", sound));
  EXPECT_EQ(status_of(heard), 404) << "it is read, and there is no model: " << heard;
  EXPECT_EQ(status_of(server.say(post("/api/answer", sound))), 413);
  const std::string head =
      "POST /api/transcribe HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\n";
  const std::string long_one = server.say(head + "Content-Length: 99999999\r\n\r\n");
  EXPECT_EQ(status_of(long_one), 413);
  EXPECT_NE(error_of(long_one).find("2097152 bytes of input"), std::string::npos) << long_one;
  std::string chunks;
  for (int i = 0; i < 400; ++i) chunks += "2000\r\n" + std::string(0x2000, 'x') + "\r\n";
  EXPECT_EQ(status_of(server.say(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks)), 413);
}

TEST(Serve, ASlowClientIsToldAndOthersAreServed) {
  const Running server;
  Client half(server.port);
  half.send("GET /health HT");
  Client body(server.port);
  body.send(
      "POST /api/live HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 20\r\n\r\n{\"na");
  Client silent(server.port);
  EXPECT_EQ(status_of(server.say(get("/health"))), 200);
  EXPECT_EQ(status_of(half.rest()), 408);
  EXPECT_EQ(status_of(body.rest()), 408);
  EXPECT_EQ(silent.rest(), "") << "one that asked for nothing is told nothing";
}

TEST(Serve, ATrickleDoesNotOutliveTheRequestsDeadline) {
  const Running server;
  Client drip(server.port);
  const auto start = std::chrono::steady_clock::now();
  drip.send("GET /health HTTP/1.1\r\nX: ");
  while (drip.send("a") && std::chrono::steady_clock::now() - start < 5s)
    std::this_thread::sleep_for(50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(Serve, PipelinedRequestsAreAnsweredInOrder) {
  const Running server(quick(), one_model());
  Client client(server.port);
  const std::string keep = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string answer = post("/api/answer", R"({"task":"pronounce","text":"cat"})");
  answer.erase(answer.find("Connection: close\r\n"), 19);
  client.send(keep + answer + keep + get("/nothing"));
  EXPECT_EQ(body_of(client.response()), "{\"status\":\"ok\"}\n");
  EXPECT_NE(body_of(client.response()).find("K AE T"), std::string::npos);
  EXPECT_EQ(body_of(client.response()), "{\"status\":\"ok\"}\n");
  EXPECT_EQ(status_of(client.response()), 404);
  EXPECT_EQ(client.rest(), "");
}

TEST(Serve, SurvivesManyConnectionsOpenedAndDropped) {
  const Running server;
  for (int i = 0; i < 1500; ++i) {
    Client client(server.port);
    if (i % 3 == 0) client.send("GET /health HTT");
    if (i % 3 == 1) client.send(post("/api/live", R"({"name":"sink"})"));
  }
  EXPECT_EQ(status_of(server.say(get("/health"))), 200);
}

TEST(Serve, TellsThoseForWhomThereIsNoRoom) {
  serve::Options options = quick();
  options.limits.connections = 4;
  const Running server(options);
  std::vector<std::unique_ptr<Client>> seated;
  for (int i = 0; i < 4; ++i) {
    seated.push_back(std::make_unique<Client>(server.port));
    seated.back()->send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(status_of(seated.back()->response()), 200);
  }
  EXPECT_EQ(status_of(server.say(get("/health"))), 503);
  seated.clear();
  int status = 503;
  for (int i = 0; i < 100 && status == 503; ++i) {
    std::this_thread::sleep_for(10ms);
    status = status_of(server.say(get("/health")));
  }
  EXPECT_EQ(status, 200) << "their places are free again";
}

TEST(Serve, EndsCleanlyWhileARequestRuns) {
  // Under a sanitizer beside other work the answer takes longer than a server usually waits.
  serve::Options patient = quick();
  patient.limits.closing = 60s;
  patient.limits.pause = 60s;
  Running server(patient, one_model());
  Client idle(server.port);
  Client busy(server.port);
  // Once the server asks for the body it has the request, however slow the machine is: one that
  // still lies in a buffer when the server ends is not answered.
  const std::string request =
      post("/api/answer",
           R"({"task":"pronounce","beam":16,"best":4,"heads":true,"text":")" +
               std::string(24, 'q') + "\"}",
           "Content-Type: application/json\r\nExpect: 100-continue\r\n");
  const std::size_t body = request.find("\r\n\r\n") + 4;
  busy.send(request.substr(0, body));
  ASSERT_EQ(status_of(busy.response()), 100);
  busy.send(request.substr(body));
  // Answers with all heads are larger than the buffers of a socket, so somebody must read.
  auto heard = std::async(std::launch::async, [&] { return busy.rest(); });
  std::this_thread::sleep_for(200ms);
  const auto start = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, patient.limits.closing);
  // It ran and is answered whole, or had not begun and is told.
  const std::string answer = heard.get();
  EXPECT_TRUE(status_of(answer) == 200 || status_of(answer) == 503) << answer;
  EXPECT_TRUE(nlohmann::json::parse(body_of(answer), nullptr, false).is_object());
  EXPECT_EQ(idle.rest(), "");
  EXPECT_FALSE(Client(server.port).connected());
}

TEST(WorkQueue, IsBoundedAndEndsItsWaiters) {
  using Fate = serve::WorkQueue::Fate;
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  std::vector<Fate> fates;
  const auto job = [&](Fate fate) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return open || fate != Fate::run; });
    fates.push_back(fate);
  };
  {
    serve::WorkQueue queue(1, 2, 10s);
    ASSERT_TRUE(queue.push(job));
    // The first leaves the line once its thread has taken it.
    int waiting = 0;
    for (int i = 0; i < 200 && waiting < 2; ++i) {
      waiting += queue.push(job) ? 1 : 0;
      std::this_thread::sleep_for(5ms);
    }
    ASSERT_EQ(waiting, 2);
    EXPECT_FALSE(queue.push(job)) << "the line has an end";
    queue.close();
    EXPECT_FALSE(queue.push(job));
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  EXPECT_EQ(fates, (std::vector<Fate>{Fate::run, Fate::closing, Fate::closing}));
}

TEST(WorkQueue, TellsThoseWhoWaitedTooLong) {
  using Fate = serve::WorkQueue::Fate;
  std::atomic<int> late = 0;
  serve::WorkQueue queue(1, 8, 20ms);
  queue.push([](Fate) { std::this_thread::sleep_for(200ms); });
  for (int i = 0; i < 3; ++i)
    queue.push([&](Fate fate) { late += fate == Fate::late ? 1 : 0; });
  for (int i = 0; i < 200 && late < 3; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(late, 3);
}

}  // namespace
}  // namespace attn::tools
