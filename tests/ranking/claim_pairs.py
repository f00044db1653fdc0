"""Pairs of statements, older | newer: which of them cannot both be true now, and which can."""


def _pairs(table: str) -> list[tuple[str, str]]:
    rows = [line.strip() for line in table.splitlines()]
    return [(older.strip(), newer.strip()) for older, newer in (row.split(" | ") for row in rows if row)]


CONFLICTS = _pairs("""
    The default port is 8080. | The default port is 9090.
    The capital of Freedonia is Glorp. | The capital of Freedonia is Sylvan.
    Anna is married to Tom. | Anna is married to Peter.
    Anna works at Siemens. | Anna works at Bosch.
    Anna works for Siemens. | Anna works at Bosch.
    The deploy target is staging. | The deploy target is production.
    Anna's favourite colour is blue. | Anna's favourite colour is green.
    Anna's favorite color is blue. | Anna's favourite colour is green.
    Maria is the CEO of Acme. | Bob is the CEO of Acme.
    The CEO of Acme is Maria. | Bob is the CEO of Acme.
    Acme's CEO is Maria. | The CEO of Acme is Bob.
    Bob is Acme's CEO. | The CEO of Acme is Maria.
    My name is Ann. | My name is Joan.
    My phone number is 555-1234. | My phone number is 555-9876.
    Our standup is scheduled for Monday. | Our standup is scheduled for Tuesday.
    The release is due on 3 May. | The release is due on 10 May.
    The billing service listens on port 7000. | The billing service listens on port 7001.
    The API is hosted on Hetzner. | The API is hosted on AWS.
    The backups are stored in S3. | The backups are stored in Glacier.
    Ticket 42 is assigned to Anna. | Ticket 42 is assigned to Bob.
    Anna lives in Berlin. | Anna lives in Munich.
    Anna lives in Germany. | Anna lives in France.
    Acme is headquartered in Boston. | Acme is headquartered in Denver.
    Moby Dick was written by Herman Melville. | Moby Dick was written by Charles Dickens.
    Jaws was directed by Steven Spielberg. | Jaws was directed by Ridley Scott.
    Tom was born in Leeds. | Tom was born in York.
    Tom was born in 1950. | Tom was born in 1951.
    Acme was founded by Jane Roe. | Acme was founded by John Doe.
    Acme was founded in 1999. | Acme was founded in 2001.
    Nova Motors is owned by Alpha Group. | Nova Motors is owned by Beta Group.
    Tom is employed by NASA. | Tom is employed by ESA.
    Tom is a citizen of Canada. | Tom is a citizen of Mexico.
    Mia plays the position of goalkeeper. | Mia plays the position of striker.
    The main branch is called master. | The main branch is called main.
    The database is Postgres. | The database is now MySQL.
    The university where Tom was educated is Yale. | The university where Tom was educated is Brown.
    The timeout is 30 seconds. | The timeout is 2 minutes.
    The project's license is MIT. | The project's license is Apache-2.0.
    The version of libfoo is 1.2.3. | The version of libfoo is 1.3.0.
    In 2019 the CEO of Acme was Ann. | In 2019 the CEO of Acme was Bob.
""")

COMPATIBLE = _pairs("""
    Bob is a citizen of Canada. | Bob is married to Carla.
    Bob is tall. | Bob is tired.
    The server runs on Linux. | The server runs on port 80.
    Anna likes jazz. | Anna likes rock.
    Anna knows Tom. | Anna knows Peter.
    Anna has a cat. | Anna has a dog.
    Anna owns a car. | Anna owns a house.
    Anna speaks French. | Anna speaks German.
    Anna visited Rome. | Anna visited Oslo.
    Anna met Tom. | Anna met Peter.
    The package depends on numpy. | The package depends on scipy.
    The tool supports Linux. | The tool supports Windows.
    The tool supports Python 3.11. | The tool supports Python 3.12.
    Bavaria is part of Germany. | Bavaria is part of Europe.
    Ann is one of the founders of Acme. | Bob is one of the founders of Acme.
    Anna works at Siemens. | Anna also works at Bosch.
    Anna works at Siemens. | Anna works at Siemens and Bosch.
    Another author of the book is Ann. | Another author of the book is Bob.
    Anna lives in New York. | Anna lives in New York City.
    Anna lives in NYC. | Anna lives in New York City.
    Anna lives in Berlin. | Anna lives in Germany.
    Anna lives in Austin. | Anna lives in Texas.
    Anna lives in Berlin. | Anna lives in Berlin, Germany.
    The project uses Python 3. | The project uses Python 3.12.
    The timeout is 2 minutes. | The timeout is 120 seconds.
    The limit is 1 GB. | The limit is 1000 MB.
    The team size is five. | The team size is 5.
    The colours are red and blue. | The colours are blue and red.
    The author of Emma is Jane Austen. | The author of Emma is J. Austen.
    The default editor is Vim. | The default editor is vim!
    The bank is the First Bank. | The bank is First Bank.
    In 2019 the CEO of Acme was Ann. | In 2024 the CEO of Acme is Bob.
    In 2019 the CEO of Acme was Ann. | The CEO of Acme is Bob.
    The CEO of Acme was Ann. | The CEO of Acme is Bob.
    Anna was married to Tom. | Anna is married to Peter.
    Is the capital of Freedonia Glorp? | The capital of Freedonia is Sylvan.
    If the port is 80, restart. | The port is 81.
    "The port is 80." | The port is 81.
    Set the port to 80. | The port is set to 81.
    It is located in Rome. | It is located in Oslo.
    He works at Siemens. | He works at Bosch.
    This is the CEO of Acme. | Bob is the CEO of Acme.
    Tom was born in Leeds. | Tom was born in 1950.
    Acme was founded by Jane Roe. | Acme was founded in 1999.
    Anna works at Siemens. | Anna works as a nurse.
    Anna is a nurse. | Anna is a mother.
    The food is spicy. | The food is delicious.
    The capital of Freedonia is Glorp. | The capital of Freedonia is a big city.
    The capital of Freedonia is Glorp. | The capital of Sylvania is Zorp.
    Anna's sister is Eva. | Anna's sister is Rosa.
    Eva is the sister of Anna. | Rosa is the sister of Anna.
    Note: call mum | Note: buy milk
    TODO: fix the port | TODO: write the docs
    Anna: yes | Anna: no
    Die Hauptstadt von Freedonien ist Glorp. | Die Hauptstadt von Freedonien ist Zorp.
    La capital de Freedonia es Glorp. | La capital de Freedonia es Zorp.
    Anna might work at Siemens. | Anna works at Bosch.
    Tom thinks the capital of Freedonia is Glorp. | Tom thinks the capital of Freedonia is Zorp.
    The film was directed by Ann Roe. | The film was directed by Bob Doe.
    A server listens on port 80. | A server listens on port 81.
    We use Slack for chat. | We use email for chat.
    Anna will work at Siemens. | Anna works at Bosch.
""")

MORE_CONFLICTS = _pairs("""
    My wife is Carla. | My wife is Dora.
    My manager is Petra. | Uwe is my manager.
    I live in Lisbon. | I live in Porto.
    I work for Shell. | I now work for BP.
    I work as a nurse. | I work as a teacher.
    Our landlord is Mr. Brown. | Our landlord is Mrs. Green.
    Our wifi password is swordfish. | Our wifi password is hunter2.
    My favourite film is Alien. | My favourite film is Heat.
    The rent is 900 euros. | The rent is 950 euros.
    The default branch is master. | The default branch is main.
    The base URL is https://a.example.com. | The base URL is https://b.example.com.
    The retry limit is three. | The retry limit is 5.
    The session timeout is 15 minutes. | The session timeout is 1 hour.
    The staging server's IP address is 10.0.0.4. | The staging server's IP address is 10.0.0.9.
    The owner of the billing repo is Dana. | The owner of the billing repo is Eli.
    Dana is the maintainer of libfoo. | Eli is the maintainer of libfoo.
    The auth service is deployed to Frankfurt. | The auth service is deployed to Dublin.
    The auth service is maintained by Team Red. | The auth service is maintained by Team Blue.
    The metrics are stored in InfluxDB. | The metrics are stored in Prometheus.
    Redis listens on port 6379. | Redis listens on port 6380.
    The CLI defaults to JSON. | The CLI defaults to YAML.
    The project is licensed under MIT. | The project is licensed under GPL-3.0.
    The feature flag is set to true. | The feature flag is set to false.
    Mozilla is headquartered in Fresno. | Mozilla is headquartered in Oakland.
    The president of Ruritania is Otto Rudolf. | The president of Ruritania is Hedwig Strauss.
    The official language of Ruritania is German. | The official language of Ruritania is Czech.
    Ruritania's currency is the crown. | Ruritania's currency is the thaler.
    The company that built Nix Bridge is Arco. | The company that built Nix Bridge is Stahl AG.
    The author of "Dune" is Frank Herbert. | The author of "Dune" is Isaac Asimov.
    Night Train was composed by Ada Field. | Night Train was composed by Ben Wood.
    Ada Field died in Vienna. | Ada Field died in Prague.
    Ada Field died in 1931. | Ada Field died in 1932.
    Nils is associated with the sport of curling. | Nils is associated with the sport of hockey.
    Bluebird is manufactured by Orion. | Bluebird is manufactured by Vega.
    The winner of the 2010 Lake Cup was Nora. | The winner of the 2010 Lake Cup was Ida.
    Project Falcon is led by Sam. | Project Falcon is led by Kim.
    Sam reports to Kim. | Sam reports to Lee.
    The Acme CEO is Maria. | The Acme CEO is Bob.
    As of 2022 the CEO of Acme is Maria. | The CEO of Acme is Bob.
    Anna is 30 years old. | Anna is 31 years old.
    Bob became the CEO of Acme. | The CEO of Acme is Ann.
    The CEO of Acme is Ann. | Bob became the CEO of Acme.
    Anna has been the mayor of Ulm since 2019. | Bob is the mayor of Ulm.
    The backend is written in Go. | The backend is written in Rust.
    The demo is scheduled for Monday at 10:00. | The demo is scheduled for Tuesday at 11:00.
    The price is $5. | The price is $7.
    My email is a@x.org. | My email is b@x.org.
    The Acme headquarters is located in Bonn. | The Acme headquarters is located in Kiel.
    Our CTO is Dana. | Eli is our CTO.
    The café's name is Luna. | The cafe's name is Sol.
""")

MORE_COMPATIBLE = _pairs("""
    I like tea. | I like coffee.
    I love my job. | I love my cat.
    I am happy. | I am hungry.
    I am a teacher. | I am a father.
    I play tennis. | I play chess.
    I have two cats. | I have a bike.
    I bought a car. | I bought a house.
    I was in Rome in 2019. | I was in Oslo in 2021.
    I worked at Shell. | I work at BP.
    I am reading Dune. | I am reading Emma.
    My friend is Tom. | My friend is Jim.
    My sister is Eva. | My sister is Rosa.
    My dog is Rex. | My dog is Bello.
    My favourite colour is blue. | My favourite food is pizza.
    My goal is to run a marathon. | My goal is to learn French.
    My brother lives in Berlin. | My sister lives in Munich.
    Tom's wife is Eva. | Tim's wife is Rosa.
    Tom lives in Berlin. | Tom works in Munich.
    Tom is married to Eva. | Tom is engaged to nobody.
    Tom is from Leeds. | Tom is from England.
    Tom speaks English. | Tom speaks Dutch.
    Tom studied physics. | Tom studied maths.
    Tom lives in London. | Tom lives in the UK.
    Tom lives in the United States. | Tom lives in the USA.
    Tom works at IBM. | Tom works at International Business Machines.
    Tom works at Google. | Tom works at google.
    Tom was born in York. | Tom was born in England.
    Tom was born on 3 May 1950. | Tom was born in York.
    Tom thinks Acme is based in Boston. | Acme is based in Denver.
    Tom said the port is 80. | The port is 81.
    The port should be 80. | The port is 81.
    The port will be 80. | The port is 81.
    Use port 80. | The port is 81.
    What is the port? | The port is 81.
    The default port is 8080 for HTTP. | The default port is 9090 for gRPC.
    The default port of Foo is 8080. | The default port of Bar is 9090.
    The HTTP port is 8080. | The gRPC port is 9090.
    The server is fast. | The server is secure.
    The server is down. | The server is in Frankfurt.
    The service uses Redis. | The service uses Postgres.
    The service depends on auth. | The service depends on billing.
    The service runs on Kubernetes. | The service runs on Linux.
    The repo contains docs. | The repo contains tests.
    The build is broken. | The build is slow.
    The bug is in the parser. | The bug is in the lexer.
    The problem is the cache. | The problem is the network.
    The next step is testing. | The next step is deployment.
    The best way is to ask. | The best way is to wait.
    The issue was a race condition. | The issue was a missing index.
    The timeout is 60 seconds. | The timeout is 1 minute.
    The timeout is 30 seconds. | The timeout is configurable.
    The file size is 2 MB. | The file size is 2048 KB.
    The app supports Node 18. | The app supports Node 20.
    The app was tested with Node 18. | The app was tested with Node 20.
    The colours of the flag are red, white and blue. | The colours of the flag are blue, white and red.
    Acme has offices in Boston. | Acme has offices in Denver.
    Acme was founded in Boston. | Acme was founded in 1999.
    Acme was founded by Ann and Bob. | Acme was founded by Ann.
    Acme acquired Foo. | Acme acquired Bar.
    Acme is a company. | Acme is a brand.
    Acme is owned by Beta. | Acme is run by Gamma.
    The mayor of Springfield in 1990 was Joe. | The mayor of Springfield in 2000 was Jane.
    The mayor of Springfield was Joe. | The mayor of Springfield was Jane.
    She is the CEO of Acme. | Bob is the CEO of Acme.
    They use Slack for chat. | They now use Teams for chat.
    The book was written by Ann Roe. | The book was written by Bob Doe.
    Ann wrote a book. | Bob wrote a book.
    Some servers are hosted on AWS. | Some servers are hosted on Hetzner.
    One of our servers is hosted on AWS. | One of our servers is hosted on Hetzner.
    Step 1: 20 minutes | Step 1: 30 minutes
    User: hello | User: goodbye
    https://a.example.com | https://b.example.com
    if x == 1: return | if x == 2: return
    for id in ids: pass | for id in names: pass
    It is 5 pm. | It is 6 pm.
    Today the port is 80. | The port is 81.
    Yesterday Anna worked at Siemens. | Anna works at Bosch.
    Le serveur écoute sur le port 80. | Le serveur écoute sur le port 81.
    Anna wohnt in Berlin. | Anna wohnt in Hamburg.
    アンナはベルリンに住んでいます。 | アンナはミュンヘンに住んでいます。
    Анна живёт в Берлине. | Анна живёт в Москве.
    Mia plays the guitar. | Mia plays the piano.
    Mia plays the position of goalkeeper. | Mia plays for Ajax.
    Mia's team is great. | Mia's team is Ajax.
    Anna is not only a nurse. | Anna is a nurse.
    Anna does not know whether Tom smokes. | Tom smokes.
    We didn't use Redis. | We use Redis.
    The key to success is patience. | The key to success is luck.
    Paris is the capital of France. | Paris is the largest city of France.
    New York is in the USA. | New York is in America.
    The prize is 500 dollars for adults. | The prize is 200 dollars for children.
""")

TRAPS = _pairs("""
    The problem of Acme is Bob. | The problem of Acme is Carl.
    Reports say Acme is based in Boston. | Reports say Acme is based in Denver.
    Anna works at Siemens. | Anna works at Bosch too.
    Tom: Acme is based in Boston. | Tom: Acme is based in Denver.
    Anna works at Bosch? | Anna works at Siemens.
    Anna is married to Tom? | Anna is married to Jim.
    Anna works at Siemens in Berlin. | Anna works at Siemens in Munich.
    Tom works for fun. | Tom works for free.
    I live in a small flat. | I live in Berlin.
    Anna lives in fear. | Anna lives in peace.
    The data is stored in memory. | The data is stored in tables.
    Acme is set to launch in May. | Acme is set to expand.
    Acme is set to launch. | Acme is set to merge.
    The function is called recursively. | The function is called twice.
    The function is called by main. | The function is called by init.
    Foo was built in Rust. | Foo was built in Berlin.
    Foo was written in Paris. | Foo was written in French.
    The author of this note is Anna. | The author of this note is Bob.
    The main character is Anna. | The main character is Bob.
    The meeting is on Monday. | The meeting is at 3 pm.
    Tom's birthday is on 3 May. | Tom's birthday is on 3 May 1990.
    The film is directed by Ann. | The film is directed by Bob.
    My name is Ann. My dog is Rex. | My dog is Bello.
    Anna is 30 years old. | Anna is 180 cm tall.
    The winner is Anna. | The winner is happy.
    The price is $5 per month. | The price is $50 per year.
    The deadline is Friday. | The deadline is close.
    The limit is 10. | The limit is ten.
    I got married to Tom. | I am married to Thomas.
    Anna's mother is Eva. | Anna's father is Tom.
    Everyone works at Acme. | Everyone works at Beta.
    Tom's car is red. | Tom's car is fast.
    My car is a Volvo. | My car is a mess.
    Bob's office is on the third floor. | Bob's office is on Main Street.
    The API is hosted on AWS. | The API is documented on GitHub.
    The CI is green. | The CI is GitHub Actions.
    Jane is the mother of Tom. | Jane is the mother of Eva.
    Jane is the author of Foo. | Jane is the author of Bar.
    Foo was written by Ann and Bob. | Foo was written by Bob and Ann.
    The backend is Django. | The backend is fast.
    The version is 2.1. | The version is 2.1.3.
    My phone is an iPhone. | My phone is broken.
    My phone is Samsung. | My phone is broken.
    The current status is unclear. | The current status is that we wait.
    The language of the docs is English. | The language of the code is German.
    I am not sure the port is 80. | The port is 80.
    The password is stored in Vault. | The password is hunter2.
    The owner is away. | The owner is Anna.
    The team uses Slack for chat and Zoom for calls. | The team now uses Teams for calls.
    Anna is the captain of the red team. | Bob is the captain of the blue team.
    Tom is married to Eva Smith. | Tom is married to Eva.
    The server in Berlin listens on port 80. | The server in Munich listens on port 81.
    Tom was born in Springfield, Ohio. | Tom was born in Springfield.
    The cost of living is rising. | The cost of living is high.
    No server listens on port 80. | The server listens on port 81.
    Anna never works at night. | Anna works at Bosch.
    Our main competitor is Foo. | Our main competitor is Foo Inc.
    The default shell is bash on Linux. | The default shell is zsh on macOS.
    The default value is 5 when unset. | The default value is 6 when empty.
""")

LAST_CONFLICTS = _pairs("""
    My wife's name is Eva. | My wife's name is Rosa.
    Our team lead is Ann. | Our team lead is Bob.
    The cat is called Mimi. | The cat is called Momo.
    The name of the cat is Mimi. | The name of the cat is Momo.
    The staging database is hosted on Hetzner. | The staging database is now hosted on OVH.
    The CI timeout is set to 20 minutes. | The CI timeout is set to 45 minutes.
    Foo is maintained by Ann. | Foo is maintained by Bob.
    The frontend is written in JavaScript. | The frontend is written in TypeScript.
    Foo's current version is 2.3.1. | Foo's current version is 2.4.0.
    The minimum supported version of Foo is 3.9. | The minimum supported version of Foo is 3.11.
    Nora's boss is Ann. | Nora's boss is Carl.
    Nora's birthday is 4 May. | Nora's birthday is 5 May.
    Nora's phone number is 123 456. | Nora's phone number is 123 789.
    The release date of Foo 2 is 1 May. | The release date of Foo 2 is 1 July.
    The API key is stored in Vault. | The API key is stored in Doppler.
    The capital of Kazakhstan is Almaty. | The capital of Kazakhstan is Astana.
    The prime minister of Freedonia is Rufus Firefly. | The prime minister of Freedonia is Ann Teasdale.
    Foo Tower is located in Bonn. | Foo Tower is located in Kiel.
    The head coach of FC Foo is Ann. | Bob is the head coach of FC Foo.
    The genre of the band Foo is heavy metal. | The genre of the band Foo is free jazz.
""")

LAST_COMPATIBLE = _pairs("""
    Nora's hobby is chess. | Nora's hobby is sailing.
    Nora is learning Spanish. | Nora is learning Greek.
    Nora is at the office. | Nora is at home.
    Nora's office is located in Berlin. | Nora's flat is located in Potsdam.
    Nora's children are Tim and Lea. | Nora's children are Lea and Tim.
    Nora lives in Hamburg during the week. | Nora lives in Kiel at the weekend.
    Nora lived in Rome. | Nora lives in Kiel.
    Nora was employed by Bosch. | Nora is employed by SAP.
    The kitchen is painted white. | The kitchen is big.
    The recipe needs eggs. | The recipe needs milk.
    The train leaves at 8. | The train arrives at 9.
    The shop opens at 8:00. | The shop closes at 20:00.
    The wedding is on 3 June. | The wedding is in Rome.
    The cat is called Mimi. | The dog is called Rex.
    The name of the cat is Mimi. | The name of the dog is Rex.
    Mount Foo is the highest mountain of Freedonia. | Mount Foo is the symbol of Freedonia.
    Foo is written in Rust. | Foo is written for beginners.
    Foo is a fork of Bar. | Foo is a fork of Baz.
    Foo requires Python 3.11. | Foo requires Docker.
    Foo requires Python 3.11 or later. | Foo requires Python 3.10 for tests.
    Foo is maintained by Ann. | Foo is maintained by Ann and Bob.
    The Foo API returns JSON. | The Foo API returns XML for legacy clients.
    The log is written to /var/log/foo. | The log is rotated daily.
    The cache is stored in Redis. | The cache is cleared by cron.
    The token expires in 5 minutes. | The token is stored in Redis.
    The tests run on Linux. | The tests run on Windows.
    The tests are in tests/. | The tests are slow.
    The release manager is responsible for tags. | The release manager is Ann.
    The lead developer of Foo was Ann until 2020. | The lead developer of Foo is Bob.
    The key is stored in Vault. | The key is 32 bytes long.
    Ann owns 20 shares. | Ann owns 30 books.
    Ann is taller than Bob. | Ann is older than Bob.
    Ann's team won. | Ann's team lost.
    Ann prefers tea. | Ann prefers short meetings.
    Ann prefers tabs. | Ann prefers dark mode.
    What Ann likes is tea. | What Ann likes is cake.
    Whoever is the CEO of Foo is rich. | Bob is the CEO of Foo.
    Ann wants the port to be 80. | The port is 81.
    Remember to set the port to 80. | The port is set to 81.
    In the test setup the port is 80. | In production the port is 81.
    On Linux the default shell is bash. | On macOS the default shell is zsh.
    For tests the timeout is 5 seconds. | For users the timeout is 30 seconds.
    Ann told me that Foo is based in Bonn. | Foo is based in Kiel.
    The price of apples is 2 euros. | The price of pears is 3 euros.
    The price is 2 euros. | The price is two euros.
    Ann works at SAP. | Ann Lee works at Bosch.
    My wife's name is Eva. | My daughter's name is Rosa.
    Our house is in Leeds. | Our house is for sale.
    Nobody lives in Foo Castle. | The duke lives in Foo Castle.
    Ann is the manager of Bob. | Ann is the manager of Carl.
    I like it. | I do not like it.
    You live in Rome. | You live in Oslo.
    The main stage was unreal. | The main stage was huge.
    The novel I'm reading is Emma. | The novel I'm reading is Dune.
    The wall is dark green. | The wall is dark and wet.
""")
